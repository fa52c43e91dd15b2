"""Length of the ray given for depth along the optical axis; needs the camera.

Quiet on purpose: errors of the network over a whole image look much the same, so of 50 readings this is noticed in
few images (docs/sensors.md states how few), and hardly ever wrongly.
"""

from typing import Final

import numpy as np

from mrac.checks.evidence import MIN_READINGS, Evidence
from mrac.checks.finding import Finding
from mrac.conventions import FloatArray
from mrac.relative import sample_bilinear

_POWER: Final = (0.7, 1.3)  # of 1 / cos of the angle off the axis in the readings: 1 for the ray's length, 0 for z
_SIGMAS: Final = 12.0  # so far from 0: residuals are not independent, or 3 would do
_INDEPENDENT: Final = 50  # readings; more are no more proof
_LEAST_SPREAD: Final = 0.02  # of log 1 / cos: a narrow camera has no difference to show
_MOST_CONTRAST: Final = 20.0  # of log depth: no scene has more, so this field is something else
_ROUNDS: Final = 5
_RIDGE: Final = 1e-9 * np.eye(5)  # readings on one line, or a constant field, leave a column undetermined


def check(evidence: Evidence) -> Finding | None:
    """Readings grow away from the optical axis as the length of rays does, against the network's depth."""
    camera, readings = evidence.camera, evidence.readings
    if camera is None or evidence.field is None or evidence.space != "log_depth" or len(readings) < 2 * MIN_READINGS:
        return None
    rays = camera.resized(evidence.shape[1], evidence.shape[0]).rays(readings.uv_px)
    good = np.isfinite(rays).all(axis=1) & evidence.inside(readings.uv_px)
    rays, uv, z = rays[good], readings.uv_px[good], readings.z_m[good]
    longer = 0.5 * np.log((rays**2).sum(axis=1))
    if longer.size < 2 * MIN_READINGS or longer.std() < _LEAST_SPREAD:
        return None
    x = sample_bilinear(evidence.field, uv)
    if np.ptp(x) > _MOST_CONTRAST:
        return None
    columns = np.stack([longer, np.ones_like(x), rays[:, 0], rays[:, 1], x - x.mean()], axis=1)
    power, deviation = _first_coefficient(columns, np.log(z) - x)
    deviation *= max(1.0, longer.size / _INDEPENDENT) ** 0.5
    if not (_POWER[0] < power < _POWER[1] and power > _SIGMAS * deviation):
        return None
    return Finding(
        "range_not_z",
        f"readings look like lengths of rays: they grow with the angle off the optical axis as 1/cos^{power:.2f}",
        "give depth along the axis: z_m = camera.range_to_z(uv_px, range_m)",
    )


def _first_coefficient(columns: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Of a robust linear regression of (K,) on (K, P): the first coefficient and its standard deviation."""
    weight = np.ones(y.size)
    for _ in range(_ROUNDS):
        weighted = columns * weight[:, None]
        inverse = np.linalg.inv(weighted.T @ columns + _RIDGE)
        coefficients = inverse @ (weighted.T @ y)
        off = np.abs(y - columns @ coefficients)
        scale = 1.4826 * np.median(off) + 1e-6
        weight = 1.0 / (1.0 + (off / (2.0 * scale)) ** 2)
    return float(coefficients[0]), float(np.sqrt(inverse[0, 0]) * scale)
