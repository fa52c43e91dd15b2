"""Outliers that the page puts among readings: near, uniform, dropout, mixed pixel, as the benchmark draws them.

The laboratory has these families with all their options (`mrac.lab.outliers`), and the runtime does without it; a test
compares the two, number by number.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.web.catalogue import FAMILIES

_NEAR_FACTOR: Final = (0.2, 0.6)
_NEAR_FLOOR_M: Final = 0.1
_MIXED_SHARE: Final = (0.3, 0.7)  # of the foreground
_WINDOW_PX: Final = 31
_INDOOR_M, _OUTDOOR_M = 10.0, 80.0  # maximum ranges that indoor and driving data sets state


class Truth(NamedTuple):
    """What a family looks at.

    Attributes:
        uv_px: (K, 2) of the true readings.
        z_m: (K,) metres.
        depth_m: (H, W) metres, NaN where there is none: of all readings that there are, chosen or not.
    """

    uv_px: FloatArray
    z_m: FloatArray
    depth_m: FloatArray


class Corrupted(NamedTuple):
    """K readings after injection.

    Attributes:
        z_m: (K,) metres.
        wrong: (K,) which of them were replaced.
    """

    z_m: FloatArray
    wrong: BoolArray


def corrupt(truth: Truth, family: str, share: float, rng: np.random.Generator) -> Corrupted:
    """Replaces round(share · K) of K readings by those of a family of outliers.

    Raises:
        ContractError: the family is unknown, or the share is not in [0, 1].
    """
    if family not in FAMILIES or not 0.0 <= share <= 1.0:
        raise ContractError(
            f"corruption: {family!r:.60} at a share of {share!r} arrived; one of {', '.join(FAMILIES)} and a share "
            "from 0 to 1 are needed"
        )
    count = round(share * truth.z_m.size)
    wrong = np.zeros(truth.z_m.size, np.bool_)
    wrong[_strongest_edges(truth, count) if family == "mixed_pixel" else _any(truth, count, rng)] = True
    # Drawn for every reading, so that the values do not depend on how many are wrong.
    replaced = _DRAWN[family](truth, rng)
    return Corrupted(np.where(wrong, replaced, truth.z_m), wrong)


def _any(truth: Truth, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(truth.z_m.size, count, replace=False)


def _strongest_edges(truth: Truth, count: int) -> NDArray[np.intp]:
    foreground, background = _edge(truth)
    edge_m = np.where(np.isnan(foreground), -1.0, background - foreground)
    return np.argsort(-edge_m, kind="stable")[:count]


def _edge(truth: Truth) -> tuple[FloatArray, FloatArray]:
    """(K,) least and largest depth in each window; NaN without any. Of sparse readings the window holds a few."""
    height, width = truth.depth_m.shape
    finite = np.isfinite(truth.depth_m)
    spacing = np.sqrt(height * width / max(int(finite.sum()), 1))
    half = max(_WINDOW_PX // 2, round(1.5 * spacing) if spacing > _WINDOW_PX / 4 else 0)
    ends = np.full((2, truth.z_m.size), np.nan)
    for k in np.flatnonzero(np.isfinite(truth.uv_px).all(axis=1)):
        u, v = np.rint(truth.uv_px[k]).clip(-half, (width + half, height + half)).astype(np.int64)
        window = truth.depth_m[max(v - half, 0) : max(v + half + 1, 0), max(u - half, 0) : max(u + half + 1, 0)]
        window = window[np.isfinite(window)]
        if window.size:
            ends[:, k] = window.min(), window.max()
    return ends[0], ends[1]


def _near(truth: Truth, rng: np.random.Generator) -> FloatArray:
    return np.maximum(truth.z_m * rng.uniform(*_NEAR_FACTOR, truth.z_m.size), _NEAR_FLOOR_M)


def _uniform(truth: Truth, rng: np.random.Generator) -> FloatArray:
    depths = truth.depth_m[np.isfinite(truth.depth_m)]
    low, high = (float(depths.min()), float(depths.max())) if depths.size else (1.0, 1.0)
    return rng.uniform(low, high, truth.z_m.size)


def _dropout(truth: Truth, rng: np.random.Generator) -> FloatArray:
    return np.full(truth.z_m.size, max_range_m(truth.depth_m))


def _mixed_pixel(truth: Truth, rng: np.random.Generator) -> FloatArray:
    foreground, background = _edge(truth)
    share = rng.uniform(*_MIXED_SHARE, truth.z_m.size)
    return np.where(np.isnan(foreground), truth.z_m, share * foreground + (1.0 - share) * background)


def max_range_m(depth_m: FloatArray) -> float:
    """What a sensor for such a scene says where nothing comes back: 10 m indoors, 80 m beyond that."""
    farthest = float(np.nanmax(depth_m, initial=0.0))
    return _INDOOR_M if farthest <= _INDOOR_M else max(_OUTDOOR_M, farthest)


_DRAWN: Final[dict[str, Callable[[Truth, np.random.Generator], FloatArray]]] = {
    "near": _near,
    "uniform": _uniform,
    "dropout": _dropout,
    "mixed_pixel": _mixed_pixel,
}
