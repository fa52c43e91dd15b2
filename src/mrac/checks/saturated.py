"""A sensor's largest value, written where nothing came back."""

from typing import Final

import numpy as np

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding

_SHARE: Final = 0.08  # of the readings, at least, at the largest value
_FEWEST: Final = 4
_TIMES: Final = 3.0  # as many as at any other value: depth of coarse steps repeats all its values
_TIMES_APART: Final = 1.5  # the same where the largest value is far from all others
_APART: Final = 1.2  # times the next largest


def check(evidence: Evidence) -> Finding | None:
    """Many readings are exactly the largest value, and no other value comes nearly as often."""
    z = evidence.readings.z_m
    if z.size < _FEWEST:
        return None
    values, counts = np.unique(z, return_counts=True)
    most = int(counts[-1])
    if values.size == 1 or most < max(_FEWEST, _SHARE * z.size):
        return None
    times = _TIMES_APART if values[-1] > _APART * values[-2] else _TIMES
    if most < times * counts[:-1].max():
        return None
    return Finding(
        "saturated",
        f"{most} of {z.size} readings are exactly {values[-1]:g}, the largest value: it may mean 'nothing came back'",
        f"leave out readings of {values[-1]:g}, or leave their cells empty",
    )
