"""Kriging with many anchors: one small posterior per image tile, from the tile's nearest anchors, blended smoothly.

A full solve costs K² per pixel. Nearby anchors screen off far ones, so each tile conditions on its nearest
`NUM_NEAREST` anchors plus `NUM_SPREAD` spread over the whole image, which carry what lies beyond a cluster. Tiles
overlap by half and are blended with a hat function, so no seam shows.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from mrac.conventions import FloatArray
from mrac.gp.features import PixelFeatures
from mrac.gp.posterior import Observations, posterior, segment
from mrac.runtime.jit import fast_kernel, kernel
from mrac.runtime.parallel import for_each_span, num_cores

NUM_NEAREST: Final = 48
NUM_SPREAD: Final = 12
_ANCHORS_PER_TILE: Final = 6.0  # the nearest 48 then reach past the tile's own overlap on every side
_MIN_TILE_PX: Final = 4
# Each band solves its tiles anew: at this size that is lost in the noise, and the features take 32 MB per core.
_BAND_PIXELS: Final = 1 << 20
_MORE: Final = 15  # anchors that are looked at where the last of the nearest is as far as the next


class Tiling(NamedTuple):
    """A grid of overlapping tiles: centre (i, j) lies at pixel (i · side, j · side) and reaches one side each way.

    Attributes:
        side: pixels between centres.
        rows, columns: how many centres there are.
        members: (rows · columns, NUM_NEAREST + NUM_SPREAD) anchor indices, −1 where fewer are needed.
    """

    side: int
    rows: int
    columns: int
    members: NDArray[np.int64]


class Band(NamedTuple):
    """Rows [top, bottom) of an image that is `width` wide, and their scaled features (NUM_FEATURES, rows · width)."""

    top: int
    bottom: int
    width: int
    points: NDArray[np.float32]


def layout(num_anchors: int, shape: tuple[int, int]) -> tuple[int, int, int]:
    """Side, rows and columns of the tiles of an image of `shape` (H, W), each of which holds a few of the anchors."""
    H, W = shape
    side = max(_MIN_TILE_PX, round((H * W / num_anchors * _ANCHORS_PER_TILE) ** 0.5))
    return side, -(-(H - 1) // side) + 1, -(-(W - 1) // side) + 1


def tiling(uv_px: FloatArray, shape: tuple[int, int], step: int) -> Tiling:
    """Lays tiles over a grid of `shape` nodes, `step` pixels apart, for the anchors at `uv_px` (K, 2)."""
    side, rows, columns = layout(len(uv_px), shape)
    v, u = np.divmod(np.arange(rows * columns), columns)
    # In pixels, not in nodes: of anchors at whole pixels, distances that are equal are then found to be.
    nearest = nearest_anchors(uv_px, np.stack([u, v], axis=1) * float(side * step))
    spread = np.broadcast_to(farthest_points(np.ascontiguousarray(uv_px), NUM_SPREAD), (len(nearest), NUM_SPREAD))
    repeated = (spread[:, :, None] == nearest[:, None, :]).any(axis=2)
    return Tiling(side, rows, columns, np.concatenate([nearest, np.where(repeated, -1, spread)], axis=1))


def nearest_anchors(uv_px: FloatArray, centres_T2: FloatArray) -> NDArray[np.int64]:
    """(T, NUM_NEAREST) the anchors (K, 2) nearest to each centre, K > NUM_NEAREST; of equally far ones the first.

    A tree alone would take any of these: often at whole pixels, and not the same ones as the device in `mrac.gpu`.
    """
    tree, K = KDTree(uv_px), len(uv_px)
    distance, nearest = tree.query(centres_T2, k=NUM_NEAREST + 1, workers=num_cores())
    chosen: NDArray[np.int64] = nearest[:, :NUM_NEAREST].astype(np.int64)
    tied, num = np.flatnonzero(distance[:, -1] == distance[:, -2]), NUM_NEAREST + 1
    while tied.size:
        num = min(num + _MORE, K)
        distance, nearest = tree.query(centres_T2[tied], k=num, workers=num_cores())
        order = np.lexsort((nearest, distance), axis=1)[:, :NUM_NEAREST]
        chosen[tied] = np.take_along_axis(nearest, order, axis=1)
        tied = tied[(distance[:, -1] == distance[:, NUM_NEAREST - 1]) & (num < K)]
    return chosen


@kernel
def farthest_points(uv_px: FloatArray, count: int) -> NDArray[np.int64]:
    """Indices of `count` of the (K, 2) points, each chosen farthest from those before it, starting at the first."""
    chosen = np.zeros(count, np.int64)
    gap = np.full(uv_px.shape[0], np.inf)
    for c in range(1, count):
        u, v = uv_px[chosen[c - 1], 0], uv_px[chosen[c - 1], 1]
        best = 0
        for k in range(uv_px.shape[0]):
            gap[k] = min(gap[k], (uv_px[k, 0] - u) ** 2 + (uv_px[k, 1] - v) ** 2)
            if gap[k] > gap[best]:
                best = k
        chosen[c] = best
    return chosen


@fast_kernel
def _predict_tile_row(
    row: int,
    tiles: Tiling,
    band: Band,
    observations: Observations,
    mean: NDArray[np.float32],
    explained: NDArray[np.float32],
) -> float:
    """Adds the hat-weighted posterior of one row of tiles to `mean` and `explained`, (H · W,) both, within the band.

    Returns:
        The sum over the tiles of their observations' mean squared Mahalanobis length.
    """
    W, side = band.width, tiles.side
    features, noise_var, residuals = observations
    scratch = np.empty((tiles.members.shape[1], 2 * side), np.float32)
    seg_mean = np.empty(2 * side, np.float32)
    seg_explained = np.empty(2 * side, np.float32)
    mahalanobis2 = 0.0
    for column in range(tiles.columns):
        members = tiles.members[row * tiles.columns + column]
        own = members[members >= 0]
        post, length2 = posterior(Observations(features[own], noise_var[own], residuals[own]))
        mahalanobis2 += length2 / own.size
        left, right = max(0, (column - 1) * side + 1), min(W, (column + 1) * side)
        n = right - left
        for v in range(band.top, band.bottom):
            start = v * W + left
            segment(band.points, start - band.top * W, post, scratch, seg_mean[:n], seg_explained[:n])
            hat_v = np.float32(1.0) - np.float32(abs(v - row * side)) / np.float32(side)
            to_mean, to_explained = mean[start : start + n], explained[start : start + n]
            for p in range(n):
                hat = hat_v * (np.float32(1.0) - np.float32(abs(left + p - column * side)) / np.float32(side))
                to_mean[p] += hat * seg_mean[p]
                to_explained[p] += hat * seg_explained[p]
    return mahalanobis2


def predict_tiled(
    uv_px: FloatArray, features: PixelFeatures, step: int, observations: Observations
) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Tile by tile what `posterior` and `predict` of `gp.posterior` give with all anchors at once.

    Args:
        uv_px: (K, 2) positions, K > NUM_NEAREST.
        features: of the nodes of a grid (H, W), which here are the pixels.
        step: pixels between the nodes.
        observations: what the process is conditioned on.

    Returns:
        Posterior mean and explained variance, (H · W,) each, and the observations' squared Mahalanobis length.
    """
    H, W = features.grid
    tiles = tiling(uv_px, features.grid, step)
    mean = np.zeros(H * W, np.float32)
    explained = np.zeros(H * W, np.float32)
    mahalanobis2 = np.zeros(tiles.rows)

    # Tiles of one row reach into the rows beside it: even rows touch no common pixel, and neither do odd ones.
    for first in (0, 1):
        chosen = range(first, tiles.rows, 2)

        def work(start: int, stop: int, chosen: range = chosen) -> None:
            for row in chosen[start:stop]:
                reach = max(0, (row - 1) * tiles.side + 1), min(H, (row + 1) * tiles.side)
                for top, bottom in features.split(*reach, _BAND_PIXELS):
                    band = Band(top, bottom, W, features.band(top, bottom))
                    mahalanobis2[row] = _predict_tile_row(row, tiles, band, observations, mean, explained)

        for_each_span(len(chosen), work)
    return mean, explained, float(mahalanobis2.sum() / len(tiles.members) * len(uv_px))
