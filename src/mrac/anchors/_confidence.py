"""A sensor's own confidence, as its files store it, as a probability that a reading is right."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError

# Of ARConfidenceLevel low, medium and high. Apple publishes no probabilities: these are assumed, not measured.
ARKIT_LEVELS: Final = (0.2, 0.6, 0.95)
_KINDS: Final = ("arkit", "arcore", "amplitude", "probability")
_HALF_AMPLITUDE: Final = 0.1  # of the median amplitude of the frame, at which a reading has confidence 0.5


def as_probability(stored: NDArray[Any], meaning: str | Sequence[float] | None) -> FloatArray:
    """Stored confidence, any shape, as probabilities in [0, 1].

    Args:
        stored: as in the file.
        meaning: `arkit`: levels 0, 1, 2, which become 0.2, 0.6, 0.95 (assumed: Apple states no probabilities).
            `arcore`: 0 to 255, divided by 255. `amplitude` of a time-of-flight sensor, in any unit: a / (a + h) with h
            a tenth of the median amplitude above 0, a rule and no measurement: the noise of such a sensor grows as
            1 / a, and readings ten times weaker than most are taken for even odds. `probability`: as it is. A sequence:
            the probability of each level from 0 on. None: whole numbers up to 2 are `arkit`, up to 255 `arcore`, and
            floats are probabilities.

    Raises:
        ContractError: the numbers do not have that meaning.
    """
    if not isinstance(meaning, str | None):
        return _by_level(stored, np.asarray(meaning, np.float64))
    if meaning is None:
        whole = stored.dtype.kind in "iu"
        meaning = "probability" if not whole else "arkit" if stored.max(initial=0) <= 2 else "arcore"
    if meaning == "arkit":
        return _by_level(stored, np.array(ARKIT_LEVELS))
    values = stored.astype(np.float64)
    if meaning == "amplitude":
        present = values[np.isfinite(values) & (values > 0.0)]
        if not present.size:
            return np.zeros(values.shape)
        half = _HALF_AMPLITUDE * float(np.median(present))
        values = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
        return np.asarray(values / (values + half))
    if meaning not in _KINDS:
        raise ContractError(f"confidence: {meaning!r} arrived; one of {', '.join(_KINDS)}, or one number per level")
    if meaning == "arcore":
        values /= 255.0
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ContractError(
            f"confidence: values from {stored.min()} to {stored.max()} arrived, taken as {meaning}; probabilities from "
            '0 to 1 are needed, levels (confidence_levels=(0.2, 0.9)), or confidence_levels="amplitude"'
        )
    return values


def _by_level(stored: NDArray[Any], probability: FloatArray) -> FloatArray:
    level = np.nan_to_num(stored, nan=-1.0).astype(np.int64)
    if probability.ndim != 1 or not ((probability >= 0.0) & (probability <= 1.0)).all():
        raise ContractError(f"confidence: levels of {probability.tolist()} arrived; probabilities 0 to 1 are needed")
    if ((level != stored) | (level < 0) | (level >= probability.size)).any():
        raise ContractError(
            f"confidence: values from {stored.min()} to {stored.max()} arrived; levels 0 to {probability.size - 1} are "
            "needed"
        )
    return np.asarray(probability[level])
