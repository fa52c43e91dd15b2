"""Confidence by resampling images: the same images for all cells and both methods of a comparison."""

from functools import lru_cache
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.lab.seeds import generator

NUM_RESAMPLES: Final = 1000
LEVEL: Final = 0.95


@lru_cache(maxsize=32)
def weights(num_images: int, name: str, seed: int = 0, num_resamples: int = NUM_RESAMPLES) -> FloatArray:
    """(resamples, images), read-only: how often each image of a set was drawn, with replacement.

    Args:
        num_images: of the set.
        name: the set's; with the seed it settles the draws, so that every table resamples the same images.
        seed: of the report.
        num_resamples: how many.
    """
    rng = generator(name, "bootstrap", seed)
    drawn = rng.multinomial(num_images, np.full(num_images, 1.0 / num_images), num_resamples).astype(np.float64)
    drawn.setflags(write=False)
    return drawn


def resampled_means(values: FloatArray, drawn: FloatArray) -> FloatArray:
    """(resamples, cells): the mean of each cell in each resample, over the images that have a value.

    Args:
        values: (cells, images), NaN where an image failed.
        drawn: (resamples, images) of `weights`.
    """
    has = np.isfinite(values)
    with np.errstate(invalid="ignore"):  # a resample of nothing but failures has no mean: NaN
        return np.asarray((drawn @ np.where(has, values, 0.0).T) / (drawn @ has.T.astype(np.float64)))


def interval(samples: FloatArray, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """The central interval of resampled statistics (resamples, ...), each end (...): values that occur, no mixtures.

    NaN, from resamples that hold nothing, is passed over.
    """
    ends = np.nanquantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0, method="closest_observation")
    return ends[0], ends[1]


def mean_intervals(values: FloatArray, name: str, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Both ends (cells,) of the interval of each cell's mean; NaN for a cell without any value.

    Args:
        values: (cells, images), NaN where an image failed.
        name: the set's.
        seed: of the report.
    """
    low, high = np.full((2, len(values)), np.nan)
    some = np.isfinite(values).any(axis=1)
    if some.any():
        drawn = weights(values.shape[1], name, seed)
        low[some], high[some] = interval(resampled_means(values[some], drawn))
    return low, high
