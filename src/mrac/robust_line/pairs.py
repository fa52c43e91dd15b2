"""Pairs of points that define candidate lines: all pairs if there are few, else a seeded random draw."""

import numpy as np
from numpy.typing import NDArray

from mrac.runtime.jit import kernel


@kernel
def pairs(num: int, trials: int, seed: int) -> NDArray[np.int64]:
    """(P, 2) indices below `num`: every pair once if there are no more than `trials`, else so many random ones.

    A random pair may be of one point twice.
    """
    num_pairs = num * (num - 1) // 2
    if num_pairs <= trials:
        every = np.empty((num_pairs, 2), np.int64)
        p = 0
        for i in range(num):
            for j in range(i + 1, num):
                every[p, 0], every[p, 1] = i, j
                p += 1
        return every
    np.random.seed(seed)  # noqa: NPY002  (numba's own generator: local to compiled code, not numpy's global state)
    drawn = np.empty((trials, 2), np.int64)
    for p in range(trials):
        drawn[p, 0] = np.random.randint(num)  # noqa: NPY002
        drawn[p, 1] = np.random.randint(num)  # noqa: NPY002
    return drawn
