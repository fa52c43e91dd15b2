"""Matrix products on the core of the caller alone.

OpenBLAS shares out products of more than some 2**18 multiplications, and its threads then spin for milliseconds, on the
cores that a frame's next stages need: a call of 21 ms takes 29. A program may set OPENBLAS_NUM_THREADS=1, which this
package cannot do for it; so what a frame needs is multiplied in parts that are too small to be shared out.
"""

from typing import Final

import numpy as np

from mrac.conventions import FloatArray

_NOT_SHARED: Final = 2**18  # multiplications; fewer than 2**13 where one side is a vector


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """`left` (K, N) or (N,) times `right` (N, M)."""
    if left.ndim == 1:
        return np.asarray(np.einsum("n,nm->m", left, right))  # a loop of numpy's own
    rows = max(_NOT_SHARED // max(right.size, 1), 2)
    return np.concatenate([left[first : first + rows] @ right for first in range(0, max(len(left), 1), rows)])
