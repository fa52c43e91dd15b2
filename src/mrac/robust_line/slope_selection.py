"""The median slope of all pairs in O(K log K) expected time and O(K) memory, for many points.

Randomised slope selection after Matousek (1991) and Dillencourt, Mount and Netanyahu (1992). The wanted ranks
are kept between two thresholds. A sample of the slopes in between proposes two closer ones, the numbers of
slopes below them are counted exactly as inversions (see `residual_order`), and once few slopes are left these
are computed and selected from. Chance decides the time and never the result; the generator is seeded, so the
time is reproducible as well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.robust_line.inversions import (
    Permutation,
    count_inversions,
    list_inversion_slopes,
    sample_inversion_slopes,
)
from mrac.robust_line.residual_order import (
    Points,
    SortBuffers,
    exact_slope_range,
    order_by_residual,
    reverse_distinct,
    sort_buffers,
    sort_points,
)
from mrac.robust_line.select import order_statistics_in_place
from mrac.robust_line.slope_streaming import slope_by_streaming
from mrac.robust_line.slopes import mean_slope
from mrac.runtime.jit import kernel

_ROUNDS = 30
"""Rounds after which the search falls back to the streaming selection; three are usual."""

_MARGIN = 2.5
"""Standard deviations of a sample quantile between the wanted rank and a proposed threshold."""

_PAD = 2.0**-50
"""Relative distance of the thresholds that enclose a slope shared by many pairs but not equal to any double."""

_SHRUNK, _FOUND, _BETWEEN, _INEXACT = 0, 1, 2, 3


class Search(NamedTuple):
    """State of one search among the slopes of K points.

    Attributes:
        points: the K points.
        exact: (2,) least and greatest |slope| != 0 that may serve as a threshold.
        edges: (2,) thresholds; the wanted slopes lie strictly between them.
        counts: (2,) number of slopes <= edges[0] and number of slopes < edges[1].
        proposed: (4,) thresholds to try next, in ascending order.
        lower: (K,) points by residual at edges[0].
        upper: (K,) points by residual at edges[1]. Its inversions against `lower` are the slopes in between.
        below: (K,) scratch, as are the next two.
        upto: (K,).
        spare: (K,).
        x: (K,) abscissae in the order of `lower`.
        y: (K,) ordinates in the order of `lower`.
        slopes: (capacity,) slopes sampled or listed.
        sort: scratch.
    """

    points: Points
    exact: FloatArray
    edges: FloatArray
    counts: NDArray[np.int64]
    proposed: FloatArray
    lower: Permutation
    upper: Permutation
    below: Permutation
    upto: Permutation
    spare: Permutation
    x: FloatArray
    y: FloatArray
    slopes: FloatArray
    sort: SortBuffers


@kernel
def sample_size(size: int) -> int:
    """Returns the number of slopes sampled per round for `size` points: what costs about as much as a count."""
    return max(size, 2048)


@kernel
def candidate_capacity(size: int) -> int:
    """Returns the number of slopes of `size` points that are computed at once; none is held beyond these."""
    return max(10 * size, 1 << 15)


@kernel
def _start(search: Search) -> int:
    """Starts the search: no threshold yet, all pairs of distinct x in between. Returns the number of those pairs."""
    size = search.points.x.size
    for i in range(size):
        search.lower[i] = i
        search.upper[i] = i
    total = reverse_distinct(search.points.x, search.upper, 0, size)
    search.edges[0], search.edges[1] = -np.inf, np.inf
    search.counts[0], search.counts[1] = 0, total
    return total


@kernel
def _align(search: Search) -> None:
    """Writes the permutation from `lower` to `upper` into `below`, and the points by `lower` to x and y."""
    lower, place = search.lower, search.spare
    for i in range(lower.size):
        place[lower[i]] = i
        search.x[i] = search.points.x[lower[i]]
        search.y[i] = search.points.y[lower[i]]
    for i in range(lower.size):
        search.below[i] = place[search.upper[i]]


@kernel
def _try(search: Search, slope: float, first: int, last: int) -> int:
    """Counts the slopes below `slope` and moves the edge on whose side the wanted ranks are not.

    Returns:
        _SHRUNK, or without any change: _FOUND where both ranks hold `slope` itself, _BETWEEN where it
        separates them, _INEXACT where the count could be wrong.
    """
    if slope != 0.0 and not (search.exact[0] <= abs(slope) <= search.exact[1]):
        return _INEXACT
    equal = order_by_residual(search.points, slope, search.sort, search.below, search.upto)
    fewer = count_inversions(search.below, search.sort.spare_item, search.spare)
    if fewer + equal <= first:
        search.edges[0], search.counts[0] = slope, fewer + equal
        search.lower[:] = search.upto
        return _SHRUNK
    if fewer > last:
        search.edges[1], search.counts[1] = slope, fewer
        search.upper[:] = search.below
        return _SHRUNK
    return _FOUND if fewer <= first and last < fewer + equal else _BETWEEN


@kernel
def _propose(search: Search, first: int, last: int, seed: int, pad: float) -> None:
    """Samples the slopes between the edges and proposes thresholds that the wanted ranks should lie between."""
    low_edge = search.counts[0]
    total = search.counts[1] - low_edge
    size = min(sample_size(search.points.x.size), search.slopes.size // 2)
    sample, copy = search.slopes[:size], search.slopes[size : 2 * size]
    _align(search)
    drawn = sample_inversion_slopes(search.below, search.spare, search.x, search.y, total, seed, sample)
    share = (first - low_edge + 0.5) / total
    margin = _MARGIN * np.sqrt(drawn * share * (1.0 - share)) + 1.0
    for side in range(2):
        rank = (first if side == 0 else last) - low_edge
        at = int(rank * (drawn / total) + (margin if side == 1 else -margin))
        at = max(min(at, drawn - 1), 0)
        for i in range(drawn):
            copy[i] = sample[i]
        slope = order_statistics_in_place(copy[:drawn], at, at)[0]
        search.proposed[2 * side] = slope - pad * abs(slope)
        search.proposed[2 * side + 1] = slope + pad * abs(slope)


@kernel
def _narrow(search: Search, first: int, last: int) -> tuple[int, float]:
    """Tries the proposed thresholds; returns the code of the last try and its threshold."""
    for i in range(search.proposed.size):
        slope = search.proposed[i]
        if search.edges[0] < slope < search.edges[1]:
            code = _try(search, slope, first, last)
            if code != _SHRUNK:
                return code, slope
    return _SHRUNK, np.nan


@kernel
def _find(search: Search, first: int, last: int) -> tuple[int, float, float]:
    """Finds the slopes of ranks `first` and `last` (equal or consecutive).

    Returns:
        (code, slope of rank `first`, slope of rank `last`); the slopes hold where the code is _FOUND.
    """
    _start(search)
    edges, counts = search.edges, search.counts
    pad = 0.0
    for number in range(_ROUNDS):
        total = counts[1] - counts[0]
        if total <= search.slopes.size:
            break
        same = edges[1] - edges[0] < 4.0 * _PAD * max(abs(edges[0]), abs(edges[1]))
        _propose(search, first, last, number << 40, 0.0 if same else pad)
        if same:
            return _FOUND, search.proposed[0], search.proposed[0]
        code, slope = _narrow(search, first, last)
        if code != _SHRUNK:
            return code, slope, slope
        # Where many pairs share a slope that is no double, only a threshold to either side of it sets them apart.
        pad = _PAD if pad == 0.0 and 2 * (counts[1] - counts[0]) > total else 0.0
    _align(search)
    listed = list_inversion_slopes(search.below, search.spare, search.x, search.y, search.slopes)
    if listed != counts[1] - counts[0] or listed > search.slopes.size:
        return _INEXACT, np.nan, np.nan
    low, high = order_statistics_in_place(search.slopes[:listed], first - counts[0], last - counts[0])
    return _FOUND, low, high


@kernel
def _new_search(x: FloatArray, y: FloatArray, capacity: int) -> Search:
    """Sorts the points and allocates everything that a search needs, with room for `capacity` slopes."""
    size = x.size
    sort = sort_buffers(size)
    points = sort_points(x, y, sort)
    exact = np.empty(2)
    exact[0], exact[1] = exact_slope_range(points)
    return Search(
        points,
        exact,
        np.empty(2),
        np.empty(2, np.int64),
        np.empty(4),
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.empty(size),
        np.empty(size),
        np.empty(capacity),
        sort,
    )


@kernel
def slope_by_inversion_counting(x: FloatArray, y: FloatArray, capacity: int = 0) -> float:
    """Returns the median slope over all pairs of distinct x, in O(K log K) expected time.

    The result is the one of `slope_by_all_pairs`, but where more than `capacity` pairs have slopes that agree
    to 2**-48: it is then one of these slopes.

    Args:
        x: (K,) abscissae, finite; their differences must not overflow.
        y: (K,) ordinates, finite; likewise.
        capacity: number of slopes to hold at once, >= 8; 0 stands for `candidate_capacity(K)`.

    Returns:
        The median slope [y per x]; NaN where no two x differ. Where the numbers are too extreme for counting
        (see `exact_slope_range`) it comes from `slope_by_streaming`, in O(K**2) time.
    """
    if x.size < 2:
        return np.nan
    search = _new_search(x, y, capacity if capacity > 0 else candidate_capacity(x.size))
    total = _start(search)
    if total == 0:
        return np.nan
    code = _INEXACT
    slopes = np.empty(2)
    if search.exact[0] <= search.exact[1]:
        # Both middle ranks at once; one after the other only where a threshold falls right between them.
        for ranks in range(3):
            first = total // 2 if ranks == 2 else (total - 1) // 2
            last = (total - 1) // 2 if ranks == 1 else total // 2
            code, low, high = _find(search, first, last)
            if ranks != 2:
                slopes[0] = low
            slopes[1] = high
            if code != (_BETWEEN if ranks == 0 else _FOUND):
                break
    return mean_slope(slopes[0], slopes[1]) if code == _FOUND else slope_by_streaming(x, y)
