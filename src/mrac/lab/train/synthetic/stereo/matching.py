"""Semi-global matching of two rectified grey images, unfiltered: every pixel gets a disparity, right or wrong.

The cost of a pair of pixels is Birchfield and Tomasi's, on the horizontal Sobel derivative and, at a quarter, on the
grey value itself, averaged over a window. It is summed along five paths, from the left, the right and the row above,
in one pass over the rows, as the usual implementations do: so the streaks it makes run sideways and down.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.runtime.jit import fast_kernel

_Floats = NDArray[np.float32]
_GREY_SHARE: Final = 0.25
_NEVER: Final = np.float32(1e9)  # a path's cost beyond the least and the largest disparity
_PATHS_DOWN: Final = 3  # from above left, above and above right


@dataclass(frozen=True, kw_only=True)
class Matcher:
    """How two images are matched.

    Attributes:
        num_disparities: disparities 0 ... num_disparities - 1 are tried.
        window_px: odd side of the window that costs are averaged over.
        small_penalty: for a disparity that changes by one from a pixel to the next, in grey levels.
        large_penalty: for one that changes by more.
        cap: largest derivative told apart from larger ones.
    """

    num_disparities: int
    window_px: int = 5
    small_penalty: float = 8.0
    large_penalty: float = 32.0
    cap: float = 63.0

    def __post_init__(self) -> None:
        if self.num_disparities < 2 or self.window_px < 1 or self.window_px % 2 == 0:
            raise ContractError(
                f"stereo/matching: {self.num_disparities} disparities and a window of {self.window_px}; "
                "two or more and an odd window needed"
            )

    def __call__(self, left: FloatArray, right: FloatArray) -> _Floats:
        """Disparities of the left image, a point of which lies so much farther left in the right one.

        Args:
            left: (H, W) grey values in [0, 255].
            right: (H, W).

        Returns:
            (H, W) float32 pixels; NaN in the first `num_disparities` - 1 columns, where not all can be tried.

        Raises:
            ContractError: the images differ in size, or are not wider than the disparities to try.
        """
        H, W = left.shape
        if right.shape != left.shape or self.num_disparities > W:
            raise ContractError(
                f"stereo/matching: images of {left.shape} and {right.shape} with {self.num_disparities} disparities; "
                "two of one size, at least as wide, needed"
            )
        out = np.full((H, W), np.nan, np.float32)
        penalties = (np.float32(self.small_penalty), np.float32(self.large_penalty))
        seen = out[:, self.num_disparities - 1 :]
        # Backwards, so that pixels of rising disparity lie one after the other.
        other = np.ascontiguousarray(self._ranges(right)[..., ::-1])
        _match(self._ranges(left), other, self.num_disparities, self.window_px // 2, penalties, seen)
        return out

    def _ranges(self, grey: FloatArray) -> _Floats:
        """(6, H, W): derivative and share of the grey value, each with its least and largest half a pixel around."""
        grey = np.asarray(grey, np.float32)
        slope = np.clip(ndimage.sobel(grey, axis=1, mode="nearest"), -self.cap, self.cap)
        planes = []
        for plane in (slope, np.float32(_GREY_SHARE) * grey):
            padded = np.pad(plane, ((0, 0), (1, 1)), mode="edge")
            half = 0.5 * (padded[:, 1:] + padded[:, :-1])
            both = (plane, half[:, 1:], half[:, :-1])
            planes += [plane, np.minimum.reduce(both), np.maximum.reduce(both)]
        return np.asarray(np.stack(planes), np.float32)


@fast_kernel
def _dissimilarities(left: _Floats, right: _Floats, D: int, out: _Floats) -> None:
    """Of one row: (6, W) ranges of both, the right one backwards, into (n, D) for the n = W - D + 1 last pixels."""
    W = left.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        x = i + D - 1
        first = W - 1 - x
        for plane in (0, 3):
            a, a_low, a_high = left[plane, x], left[plane + 1, x], left[plane + 2, x]
            b = right[plane, first : first + D]
            b_low, b_high = right[plane + 1, first : first + D], right[plane + 2, first : first + D]
            for d in range(D):
                one = max(a - b_high[d], b_low[d] - a, np.float32(0.0))
                two = max(b[d] - a_high, a_low - b[d], np.float32(0.0))
                cost = min(one, two)
                row[d] = cost if plane == 0 else row[d] + cost


@fast_kernel
def _add_window(rows: _Floats, half: int, sign: float, out: _Floats) -> None:
    """Adds `sign` times the sums over 2 · half + 1 pixels of (n, D) costs, those at the ends repeated."""
    n, D = rows.shape
    running = np.zeros(D, np.float32)
    s = np.float32(sign)
    for i in range(-half, half + 1):
        row = rows[min(max(i, 0), n - 1)]
        for d in range(D):
            running[d] += row[d]
    for i in range(n):
        target = out[i]
        new, old = rows[min(i + half + 1, n - 1)], rows[max(i - half, 0)]
        for d in range(D):
            target[d] += s * running[d]
            running[d] += new[d] - old[d]


@fast_kernel
def _step(
    cost: _Floats, path: _Floats, least: np.float32, penalties: tuple[np.float32, np.float32], out: _Floats
) -> np.float32:
    """One pixel farther along a path: (D,) costs, the path's (D + 2,) until here and after, and its least cost."""
    small, cut = penalties[0], least + penalties[1]
    D = cost.size
    below, same, above, target = path[:D], path[1 : D + 1], path[2 : D + 2], out[1 : D + 1]
    lowest = _NEVER
    for d in range(D):
        best = min(same[d], cut, min(below[d], above[d]) + small)
        value = cost[d] + best - least
        target[d] = value
        lowest = min(lowest, value)
    return lowest


@fast_kernel
def _best(total: _Floats) -> np.float32:
    """The disparity of least total cost, (D,), to a fraction of a pixel by the parabola through its neighbours."""
    D = total.size
    lowest = _NEVER
    for d in range(D):
        lowest = min(lowest, total[d])
    where = 0
    while where < D - 1 and total[where] > lowest:
        where += 1
    if where == 0 or where == D - 1:
        return np.float32(where)
    before, after = total[where - 1], total[where + 1]
    bend = before + after - np.float32(2.0) * total[where]
    return np.float32(where + (0.5 * (before - after) / bend if bend > 0.0 else 0.0))


@fast_kernel
def _aggregate(
    costs: _Floats,
    above: _Floats,
    above_least: _Floats,
    penalties: tuple[np.float32, np.float32],
    here: _Floats,
    here_least: _Floats,
    total: _Floats,
) -> None:
    """The paths that come from the left and from above, of one row.

    Args:
        costs: (n, D).
        above: (3, n + 2, D + 2) of the row above, one pixel more to each side.
        above_least: (3, n + 2).
        penalties: small and large.
        here: as `above`, overwritten.
        here_least: as `above_least`, overwritten.
        total: (n, D), overwritten.
    """
    n, D = costs.shape
    sideways = np.zeros((2, D + 2), np.float32)
    sideways[:, 0] = _NEVER
    sideways[:, D + 1] = _NEVER
    least = np.float32(0.0)
    for i in range(n):
        cost, now = costs[i], sideways[i % 2]
        least = _step(cost, sideways[(i + 1) % 2], least, penalties, now)
        for k in range(_PATHS_DOWN):
            here_least[k, i + 1] = _step(cost, above[k, i + k], above_least[k, i + k], penalties, here[k, i + 1])
        p0, p1, p2, p3 = now[1 : D + 1], here[0, i + 1, 1 : D + 1], here[1, i + 1, 1 : D + 1], here[2, i + 1, 1 : D + 1]
        summed = total[i]
        for d in range(D):
            summed[d] = p0[d] + p1[d] + p2[d] + p3[d]


@fast_kernel
def _choose(costs: _Floats, total: _Floats, penalties: tuple[np.float32, np.float32], out: _Floats) -> None:
    """Adds the path that comes from the right and takes the best disparity of each of n pixels."""
    n, D = costs.shape
    sideways = np.zeros((2, D + 2), np.float32)
    sideways[:, 0] = _NEVER
    sideways[:, D + 1] = _NEVER
    least = np.float32(0.0)
    for i in range(n - 1, -1, -1):
        now = sideways[i % 2]
        least = _step(costs[i], sideways[(i + 1) % 2], least, penalties, now)
        path, summed = now[1 : D + 1], total[i]
        for d in range(D):
            summed[d] += path[d]
        out[i] = _best(summed)


@fast_kernel
def _match(
    left: _Floats, right: _Floats, D: int, half: int, penalties: tuple[np.float32, np.float32], out: _Floats
) -> None:
    """Matches (6, H, W) ranges, the right ones backwards, and writes the disparities of the last W - D + 1 columns."""
    H, n, size = out.shape[0], out.shape[1], 2 * half + 1
    ring = np.zeros((size, n, D), np.float32)  # the rows of the window, before they are averaged
    window, costs, total = np.zeros((n, D), np.float32), np.zeros((n, D), np.float32), np.zeros((n, D), np.float32)
    paths = np.zeros((2, _PATHS_DOWN, n + 2, D + 2), np.float32)
    paths[..., 0] = _NEVER
    paths[..., D + 1] = _NEVER
    least = np.zeros((2, _PATHS_DOWN, n + 2), np.float32)
    share = np.float32(1.0 / (size * size))
    for v in range(-half, H + half):
        # Rows beyond the image repeat the first and the last.
        entering = ring[v % size]
        if v >= -half + size:
            _add_window(entering, half, -1.0, window)
        row = min(max(v, 0), H - 1)
        _dissimilarities(left[:, row], right[:, row], D, entering)
        _add_window(entering, half, 1.0, window)
        middle = v - half
        if middle < 0:
            continue
        for i in range(n):
            source, scaled = window[i], costs[i]
            for d in range(D):
                scaled[d] = share * source[d]
        now, before = middle % 2, (middle + 1) % 2
        _aggregate(costs, paths[before], least[before], penalties, paths[now], least[now], total)
        _choose(costs, total, penalties, out[middle])
