"""One depth for all readings: a default value, or a sensor that was not running."""

from typing import Final

import numpy as np

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding

_FEWEST: Final = 4  # readings; fewer may agree by chance where depth has coarse steps


def check(evidence: Evidence) -> Finding | None:
    """All readings are exactly the same number."""
    z = evidence.readings.z_m
    if z.size < _FEWEST or np.ptp(z) > 0.0:
        return None
    return Finding(
        "all_equal",
        f"all {z.size} readings are {z[0]:g}",
        "check that the sensor was running and that this column is its depth",
    )
