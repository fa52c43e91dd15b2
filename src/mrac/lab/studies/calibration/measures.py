"""What stated uncertainty is worth: coverage, reliability of probabilities, sparsification. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import BoolArray, FloatArray

LEVELS: Final = (0.5, 0.68, 0.9)
NUM_BINS: Final = 10
REMOVED: Final = np.linspace(0.0, 0.95, 20)
"""Shares of the pixels that are taken away, the most doubtful first."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities beside what came true, in bins of equal width; NaN in a bin that nothing fell into.

    Attributes:
        count: (bins,) how many probabilities fell into each.
        stated: (bins,) their mean.
        observed: (bins,) the share that came true.
        low: (bins,) end of the 95 % interval of that share (Wilson).
        high: (bins,) the other.
        error: expected calibration error, the mean distance of the two, weighed by count.
        brier: mean squared distance from what came true.
        brier_constant: the same for one who states the share of what came true each time, and knows no more.
    """

    count: FloatArray
    stated: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    error: float
    brier: float
    brier_constant: float


def reliability(stated: FloatArray, true: BoolArray, num_bins: int = NUM_BINS) -> Reliability:
    """Compares (N,) probabilities with whether each came true.

    Args:
        stated: in [0, 1].
        true: of the same length, at least 1.
        num_bins: of equal width.
    """
    place = np.minimum((stated * num_bins).astype(np.intp), num_bins - 1)
    count, hits, total = (
        np.bincount(place, w, num_bins).astype(np.float64) for w in (None, true.astype(np.float64), stated)
    )
    with np.errstate(invalid="ignore"):
        observed, mean = hits / count, total / count
    low, high = wilson(observed, count)
    return Reliability(
        count=count,
        stated=mean,
        observed=observed,
        low=low,
        high=high,
        error=float(np.nansum(np.abs(observed - mean) * count) / count.sum()),
        brier=float(np.mean((stated - true) ** 2)),
        brier_constant=float(true.mean() * (1.0 - true.mean())),
    )


def wilson(share: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both ends of the 95 % interval of shares of so many: never outside [0, 1], unlike that of a normal."""
    z2 = 1.96**2
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (share + z2 / (2.0 * count)) / (1.0 + z2 / count)
        half = np.sqrt(z2) * np.sqrt(share * (1.0 - share) / count + z2 / (4.0 * count**2)) / (1.0 + z2 / count)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def sparsification(error: FloatArray, doubt: FloatArray, removed: Sequence[float] | FloatArray = REMOVED) -> FloatArray:
    """(steps,) the mean error that is left when the most doubtful pixels are gone, as a share of the whole mean.

    Pixels of equal doubt are taken as they come: their order says nothing, and must not come from the error's.

    Args:
        error: (N,) of each pixel, >= 0.
        doubt: (N,) any number that is larger where one should trust less.
        removed: shares in [0, 1).
    """
    return _remaining(error[np.argsort(-doubt, kind="stable")], np.asarray(removed))


def ideal_sparsification(error: FloatArray, removed: Sequence[float] | FloatArray = REMOVED) -> FloatArray:
    """The same for one who knows the error itself: no order does better."""
    return _remaining(np.sort(error)[::-1], np.asarray(removed))


def _remaining(error: FloatArray, removed: FloatArray) -> FloatArray:
    left = np.cumsum(error[::-1].astype(np.float64))[::-1]
    first = np.minimum(np.rint(removed * error.size).astype(np.intp), error.size - 1)
    means = left[first] / (error.size - first)
    return means / means[0] if means[0] > 0.0 else np.ones_like(means)


def ause(curve: FloatArray, ideal: FloatArray, removed: Sequence[float] | FloatArray = REMOVED) -> float:
    """Area between a curve and the ideal one, per unit of share removed; 0 is perfect."""
    x = np.asarray(removed)
    return float(np.trapezoid(curve - ideal, x) / (x[-1] - x[0]))
