"""Depth in millimetres, centimetres, feet or kilometres in place of metres.

The embedded network guesses metres. On training images that it had never seen its guess was wrong by a factor of up to
e^1.2, without knowing the camera, so a factor of 100 or 1000 shows and feet (3.28) do not: those are only noticed where
the sensor's largest range is stated (`Evidence.max_range_m`), which no call of a `Calibrator` does. Other networks
guess no metres; then the readings alone must be implausible.
"""

from typing import Final

import numpy as np

from mrac.checks.evidence import MIN_READINGS, Evidence
from mrac.checks.finding import Finding
from mrac.relative import sample_bilinear
from mrac.units import PER_METRE

_WORDS: Final = {"mm": "millimetres", "cm": "centimetres", "feet": "feet", "km": "kilometres"}
_FOCAL: Final = 0.9  # of the image's width, for which the network guesses metres
_FROM_CM, _FROM_MM, _TO_KM = 2.3, 5.75, -5.0  # log of readings over the guess, halfway between units
_FAR_M, _FAR_MM = 200.0, 1000.0  # median: no scene has more metres; a scene of more centimetres is rare
_BEYOND: Final = 0.6  # share of the readings beyond the sensor's range


def check(evidence: Evidence) -> Finding | None:
    """The readings are far from the network's guess, from the sensor's range or from any scene."""
    unit = suspected(evidence)
    if unit is None:
        return None
    z = evidence.readings.z_m
    return Finding(
        "units",
        f"depth looks like {_WORDS[unit]}: the median reading is {np.median(z):.4g}, taken as metres",
        f"give metres, or --anchors-scale {PER_METRE[unit]:.4g}; or --fix units",
    )


def suspected(evidence: Evidence) -> str | None:
    """`mm`, `cm`, `feet` or `km` where the readings look like that, else None."""
    z = evidence.readings.z_m
    if z.size < _fewest(evidence):
        return None
    if evidence.max_range_m is not None:
        for unit in ("feet", "cm", "mm"):
            scaled = z / PER_METRE[unit]
            if np.mean(z > 1.02 * evidence.max_range_m) >= _BEYOND and np.mean(scaled <= evidence.max_range_m) >= 0.9:
                return unit
    if not evidence.metric or evidence.field is None:
        median = float(np.median(z))
        return None if median <= _FAR_M else "mm" if median > _FAR_MM else "cm"
    guess = sample_bilinear(evidence.field, evidence.readings.uv_px)
    if evidence.camera is not None:
        guess = guess + np.log(evidence.camera.fx_px / evidence.camera.width / _FOCAL)
    over = float(np.median(np.log(z) - guess))
    return "mm" if over > _FROM_MM else "cm" if over > _FROM_CM else "km" if over < _TO_KM else None


def _fewest(evidence: Evidence) -> int:
    return 1 if evidence.metric else MIN_READINGS
