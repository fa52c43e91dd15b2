"""Local affine alignment: a line per pixel from its k nearest anchors, PriorDA's coarse stage (Wang et al. 2025)."""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mrac.conventions import FloatArray
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.runtime.jit import kernel
from mrac.runtime.parallel import for_each_span
from mrac.space import bounded_sigma, depth_std, from_space

_TILE: Final = 16  # pixels along each side; their nearest anchors are searched for together
_NEAREST_PX: Final = 1e-6  # the least distance: on a pixel that has an anchor, that anchor has all the weight


@dataclass(frozen=True, kw_only=True)
class KnnAlignment(Head):
    """y = s · x + t by least squares over the `neighbours` nearest anchors, weighted with distance^-`exponent`.

    PriorDA solves for (s, t) alone, with jitter against singular systems; with five anchors of similar x the slope is
    arbitrary. Here a ridge penalty shrinks it towards the fit's, and the shift is free: an anchor on a pixel keeps its
    own value there, and where the fit is exact, so is the result. PriorDA aligns inverse depth; this takes the fit's
    space.

    The variance is the squared difference of the local line from the fit, as in PriorDA, plus that of the anchors
    around the local line.

    Attributes:
        neighbours: k; fewer where there are fewer anchors.
        exponent: 2 is what PriorDA's code does, 1 what its paper writes.
        ridge: strength of the penalty, as a share of the variance of x over all anchors.
    """

    neighbours: int = 5
    exponent: float = 2.0
    ridge: float = 0.01

    def __post_init__(self) -> None:
        check_numbers(self, 1, 1000, only=("neighbours",))
        check_numbers(self, 0.0, 4.0, only=("exponent",))
        check_numbers(self, 1e-9, 1e9, only=("ridge",))

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without anchors or a relative field, what `affine` gives."""
        anchors = scene.samples.inliers
        if scene.relative is None or not len(anchors):
            return Affine()(scene)
        assert anchors.x is not None
        # In units of their spread: squares of relative values below 1e-160 would vanish.
        spread = max(float(np.abs(anchors.x - anchors.x.mean()).max()), 1e-30)
        residual = anchors.y - scene.fit(anchors.x)
        table = np.column_stack([anchors.uv_px, anchors.x / spread, residual, anchors.weight])
        rule = _Rule(
            min(self.neighbours, len(anchors)), float(self.exponent), self.ridge * float(np.var(table[:, 2])), spread
        )
        near = _near_tiles(anchors.uv_px, scene.shape, rule.k)
        relative = np.ascontiguousarray(scene.relative, dtype=np.float32)
        maps = np.empty((2, *scene.shape))
        for_each_span(near.starts.size - 1, lambda first, last: _align(relative, table, near, rule, first, last, maps))
        correction, std = maps
        depth_m = from_space(scene.fit(relative) + correction, anchors.space).astype(np.float32)
        sigma_m = bounded_sigma(depth_m, depth_std(depth_m, std, anchors.space))
        return HeadResult(depth_m, sigma_m.astype(np.float32))


class _Rule(NamedTuple):
    """Parameters of a pixel's regression; `ridge` is a variance of x in units of `spread`."""

    k: int
    exponent: float
    ridge: float
    spread: float


class _Near(NamedTuple):
    """Candidate anchors per tile, row by row: a superset of the k nearest of each pixel of the tile.

    Attributes:
        anchors: indices of anchors, tile after tile.
        starts: (tiles + 1,) where those of each tile start, and the end of the last.
    """

    anchors: NDArray[np.int64]
    starts: NDArray[np.int64]


def _near_tiles(uv_px: FloatArray, shape: tuple[int, int], k: int) -> _Near:
    (H, W), half = shape, _TILE / 2.0
    v, u = np.mgrid[0:H:_TILE, 0:W:_TILE]
    centres = np.stack([u.ravel(), v.ravel()], axis=1) + (half - 0.5)
    tree = cKDTree(uv_px)
    distance, _ = tree.query(centres, k=[k])
    # Twice the distance to a corner: once for the corner to its k-th anchor, once for that anchor to the centre.
    found = tree.query_ball_point(centres, distance[:, 0] + 2.0 * math.hypot(half, half), return_sorted=True)
    return _Near(np.concatenate(found).astype(np.int64), np.cumsum([0, *map(len, found)], dtype=np.int64))


@kernel
def _align(
    relative: NDArray[np.float32],
    table: FloatArray,
    near: _Near,
    rule: _Rule,
    first: int,
    last: int,
    maps: FloatArray,
) -> None:
    """Writes the correction of y and its standard deviation into `maps` (2, H, W), for tiles `first` to before `last`.

    `table` (K, 5) has u, v, x in units of the spread, the residual of the fit and the weight of each anchor.
    """
    H, W = relative.shape
    columns = (W + _TILE - 1) // _TILE
    chosen, distance2 = np.empty(rule.k, np.int64), np.empty(rule.k)
    for tile in range(first, last):
        top, left = tile // columns * _TILE, tile % columns * _TILE
        anchors = near.anchors[near.starts[tile] : near.starts[tile + 1]]
        for v in range(top, min(top + _TILE, H)):
            for u in range(left, min(left + _TILE, W)):
                _choose(table, anchors, u, v, chosen, distance2)
                maps[0, v, u], maps[1, v, u] = _line(table, chosen, distance2, rule, relative[v, u] / rule.spread)


@kernel
def _choose(
    table: FloatArray, anchors: NDArray[np.int64], u: int, v: int, chosen: NDArray[np.int64], distance2: FloatArray
) -> None:
    """Fills `chosen` (k,) with the nearest of `anchors` to a pixel, in order, and `distance2` (k,) with distances²."""
    k = chosen.size
    distance2[:] = np.inf
    for i in anchors:
        d2 = (table[i, 0] - u) ** 2 + (table[i, 1] - v) ** 2
        place = k
        while place > 0 and d2 < distance2[place - 1]:
            place -= 1
        for j in range(k - 1, place, -1):
            chosen[j], distance2[j] = chosen[j - 1], distance2[j - 1]
        if place < k:
            chosen[place], distance2[place] = i, d2


@kernel
def _line(
    table: FloatArray, chosen: NDArray[np.int64], distance2: FloatArray, rule: _Rule, x: float
) -> tuple[float, float]:
    """The correction of y at `x` and its standard deviation, by ridge regression on the residuals of the `chosen`."""
    least = _NEAREST_PX**2
    weight = (max(distance2[0], least) / np.maximum(distance2, least)) ** (0.5 * rule.exponent)
    total, x_mean, residual_mean = 0.0, 0.0, 0.0
    for j, i in enumerate(chosen):
        weight[j] *= table[i, 4]
        total += weight[j]
        x_mean += weight[j] * table[i, 2]
        residual_mean += weight[j] * table[i, 3]
    x_mean, residual_mean = x_mean / total, residual_mean / total
    across, along = 0.0, rule.ridge * total
    for j, i in enumerate(chosen):
        across += weight[j] * (table[i, 2] - x_mean) * (table[i, 3] - residual_mean)
        along += weight[j] * (table[i, 2] - x_mean) ** 2
    slope = across / max(along, 1e-30)
    around = 0.0
    for j, i in enumerate(chosen):
        around += weight[j] / total * (table[i, 3] - residual_mean - slope * (table[i, 2] - x_mean)) ** 2
    correction = residual_mean + slope * (x - x_mean)
    return correction, math.sqrt(correction * correction + around)


IMPLEMENTATION = KnnAlignment
