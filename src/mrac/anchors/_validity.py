"""Which anchors can be used at all, why each other one cannot, and one reading per pixel out of several.

What comes out does not depend on the order of what comes in, and neither does anything after it: gate, fit and head see
the readings by pixel, row by row.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.conventions import BoolArray, FloatArray, TextArray, in_image
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M

USABLE: Final = ""
_AGREE: Final = 0.1  # of log depth, up to which readings of one pixel agree: what slopes and noise do within it
_SIGMAS: Final = 2.0  # the same in stated standard deviations, where that is more
# Nearest other pixels that decide between groups of one size. On training LiDAR, where the other reading lies behind an
# edge, the right one wins in 92 % (8: 97 %, but where the other is an error too near 71 % in place of 83 %).
_NEIGHBOURS: Final = 4
_LOG_SPAN: Final = 20.0  # more than the range of log depth of usable readings


class Usable(NamedTuple):
    """The usable ones of K anchors, merged into M readings.

    Attributes:
        readings: M of them, at most one per pixel, by row and then by column.
        reason: (K,) `USABLE`, or why an anchor is not.
        place: (K,) the place among `readings` of each usable anchor; -1 for one that is not.
    """

    readings: Anchors
    reason: TextArray
    place: NDArray[np.intp]


def usable(anchors: Anchors, shape: tuple[int, int], has_value: BoolArray | None) -> Usable:
    """The anchors that can be used, several in one pixel merged by a vote.

    Those of a pixel that agree with one of them to 0.1 in log depth (or twice the median standard deviation stated
    there, where that is more) are a group. The largest group becomes one reading: at the mean position, of the median
    depth, with that reading's standard deviation (no smaller one, since readings of one pixel share their errors). The
    others are `outvoted`. Between groups of one size the four nearest pixels without such a tie decide: a depth that
    one of them agrees with wins. Where that holds for several, as at an edge, the nearest to the camera wins, since it
    hides the others; where for none, the nearest to the median of the four; and without any such pixel the nearest to
    the camera.

    Args:
        anchors: K of them.
        shape: (H, W) of the image.
        has_value: (H, W), where the relative depth has a value; None without relative depth.
    """
    H, W = shape
    u, v = np.floor(np.nan_to_num(anchors.uv_px.T) + 0.5)
    row, column = np.clip(v, 0, H - 1).astype(np.intp), np.clip(u, 0, W - 1).astype(np.intp)
    reason = _validity(anchors, shape, None if has_value is None else has_value[row, column])
    index = np.flatnonzero(reason == USABLE)
    pixel = (row * W + column)[index]
    order = np.argsort(pixel, kind="stable")
    index, pixel = index[order], pixel[order]
    new = np.ones(pixel.size, np.bool_)
    np.not_equal(pixel[1:], pixel[:-1], out=new[1:])
    place = np.full(len(anchors), -1)
    place[index] = np.cumsum(new) - 1
    if new.all():
        return Usable(anchors.take(index), reason, place)
    shared = ~(new & np.append(new[1:], True))
    several = index[shared]
    sigma = () if anchors.sigma_m is None else (anchors.sigma_m[several],)
    order = np.lexsort((*sigma, *anchors.uv_px[several].T, anchors.z_m[several], pixel[shared]))
    index[shared] = several[order]
    pixel_uv = np.stack([pixel[new] % W, pixel[new] // W], axis=1)
    readings, wins = _merged(anchors.take(index), np.flatnonzero(new), pixel_uv)
    reason[index[~wins]] = "outvoted"
    place[index[~wins]] = -1
    return Usable(readings, reason, place)


def _validity(anchors: Anchors, shape: tuple[int, int], has_value: BoolArray | None) -> TextArray:
    """One reason per anchor: `USABLE`, or why it is not; the first that applies, in the order below.

    Args:
        anchors: K of them.
        shape: (H, W) of the image.
        has_value: (K,), whether the relative depth has a value in an anchor's pixel; None without relative depth.

    Returns:
        (K,) of the anchor's own flag, `not_finite`, `not_positive`, `out_of_range` (under a millimetre or over ten
        kilometres), `bad_sigma`, `bad_extent`, `bad_confidence` (not finite, negative, a confidence over 1),
        `out_of_image`, `no_relative_value`, or `USABLE`.
    """
    H, W = shape
    u, v = anchors.uv_px.T
    z = anchors.z_m
    flag = np.full(len(anchors), UNFLAGGED) if anchors.flag is None else anchors.flag
    reason = np.full(len(anchors), USABLE, dtype=f"<U{max(17, flag.dtype.itemsize // 4)}")
    if has_value is not None:
        reason[~has_value] = "no_relative_value"
    reason[~in_image(anchors.uv_px, (W, H))] = "out_of_image"
    for name, values, most in (
        ("bad_confidence", anchors.confidence, 1.0),
        ("bad_extent", anchors.extent_px, np.inf),
        ("bad_sigma", anchors.sigma_m, np.inf),
    ):
        if values is not None:
            good = np.isfinite(values) & (values >= 0.0) & (values <= most)
            reason[~good.reshape(len(anchors), -1).all(axis=1)] = name
    reason[(z < MIN_DEPTH_M) | (z > MAX_DEPTH_M)] = "out_of_range"
    reason[z <= 0.0] = "not_positive"
    reason[~(np.isfinite(u) & np.isfinite(v) & np.isfinite(z))] = "not_finite"
    return np.where(flag == UNFLAGGED, reason, flag)  # what its sensor says of a reading tells more


def _merged(anchors: Anchors, start: NDArray[np.intp], pixel_uv: NDArray[np.intp]) -> tuple[Anchors, BoolArray]:
    """One reading for each of M pixels, and which anchors (K,) are of the group that won there.

    Args:
        anchors: K usable ones, by pixel, those of one pixel by ascending depth.
        start: (M,) the first anchor of each pixel.
        pixel_uv: (M, 2) the pixels.
    """
    K = len(anchors)
    pixel = np.repeat(np.arange(start.size), np.diff(start, append=K))
    low, high = _vote(np.log(anchors.z_m), _tolerance(anchors, start, pixel), start, pixel, pixel_uv)
    at = np.arange(K)
    wins = (at >= low[pixel]) & (at < high[pixel])
    # The mean of equal positions is exactly that position: a copy of a reading changes nothing.
    from_first = (anchors.uv_px - anchors.uv_px[low[pixel]])[wins].T
    shift = np.stack([np.bincount(pixel[wins], each) for each in from_first], axis=1)
    uv_px = anchors.uv_px[low] + shift / (high - low)[:, None]
    sigma = None if anchors.sigma_m is None else _median(anchors.sigma_m, low, high)
    middle = anchors.take((low + high) // 2)
    z_m = _median(anchors.z_m, low, high)
    return Anchors(uv_px, z_m, sigma, extent_px=middle.extent_px, confidence=middle.confidence), wins


def _vote(
    log_z: FloatArray, within: FloatArray, start: NDArray[np.intp], pixel: NDArray[np.intp], uv: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(M,), (M,) the first and one past the last reading of the group that wins in each pixel.

    Args:
        log_z: (K,) ascending within a pixel.
        within: (K,) tolerance.
        start: (M,) the first reading of each pixel.
        pixel: (K,) the number of each reading's pixel.
        uv: (M, 2) the pixels.
    """
    # In ascending order of this a group is a span: each pixel has a range of its own, wider than any tolerance.
    apart = 3.0 * _LOG_SPAN * pixel + log_z
    low, high = np.searchsorted(apart, apart - within, "left"), np.searchsorted(apart, apart + within, "right")
    size = high - low
    candidate = np.flatnonzero(size == np.maximum.reduceat(size, start)[pixel])  # readings in the middle of a largest
    first = np.flatnonzero(np.diff(pixel[candidate], prepend=-1))
    chosen, last = candidate[first], candidate[np.append(first[1:], candidate.size) - 1]
    tied = low[last] != low[chosen]  # more than one largest group
    if tied.any() and not tied.all():
        around = _around(uv, tied, _median(log_z, low[chosen], high[chosen]))
        candidate = candidate[tied[pixel[candidate]]]
        off = log_z[candidate, None] - around[(np.cumsum(tied) - 1)[pixel[candidate]]]
        agrees = np.abs(off).min(axis=1) <= within[candidate]
        rank = np.where(agrees, -1.0, np.abs(np.median(off, axis=1)))
        candidate = candidate[np.lexsort((candidate, rank, pixel[candidate]))]
        chosen[tied] = candidate[np.diff(pixel[candidate], prepend=-1) > 0]
    return low[chosen], high[chosen]


def _median(values: FloatArray, low: NDArray[np.intp], high: NDArray[np.intp]) -> FloatArray:
    """(M,) the value in the middle of each span of (K,) values, the mean of two where their number is even."""
    return np.asarray(0.5 * (values[(low + high - 1) // 2] + values[(low + high) // 2]))


def _tolerance(anchors: Anchors, start: NDArray[np.intp], pixel: NDArray[np.intp]) -> FloatArray:
    """(K,) of log depth, one for a pixel: if each reading had its own, that with the largest would always win."""
    if anchors.sigma_m is None:
        return np.full(pixel.size, _AGREE)
    share = anchors.sigma_m / anchors.z_m
    share = share[np.lexsort((share, pixel))]
    middle = share[(start + np.append(start[1:], pixel.size) - 1) // 2]
    return np.asarray(np.clip(_SIGMAS * middle, _AGREE, _LOG_SPAN)[pixel])


def _around(uv: NDArray[np.intp], tied: BoolArray, log_z: FloatArray) -> FloatArray:
    """(T, N) log depth of the N pixels without a tie that are nearest to each of the T with one.

    Args:
        uv: (M, 2) pixels.
        tied: (M,) in which no group is the largest.
        log_z: (M,) log depth of the others.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415  (a tenth of a second, and ties are rare)

    num = min(_NEIGHBOURS, int(np.count_nonzero(~tied)))
    _, nearest = KDTree(uv[~tied]).query(uv[tied], k=np.arange(1, num + 1))
    return np.asarray(log_z[~tied][nearest])
