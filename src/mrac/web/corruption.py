"""Outliers that the page puts among readings: the benchmark's families, for scenes that have readings alone."""

from typing import Final

import numpy as np

from mrac import registry
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.outliers import Corrupted, Outliers, Truth
from mrac.outliers.mixed_pixel import MixedPixel
from mrac.web.catalogue import FAMILIES

_INDOOR_M, _OUTDOOR_M = 10.0, 80.0  # maximum ranges that indoor and driving data sets state
_WINDOW_PX: Final = MixedPixel().window_px


def corrupt(truth: Truth, family: str, share: float, rng: np.random.Generator) -> Corrupted:
    """Replaces round(share · K) of K readings by those of a family of outliers.

    Raises:
        ContractError: the family is not one of the page's, or the share is not in [0, 1].
    """
    if family not in FAMILIES:
        raise ContractError(f"corruption: {family!r:.60} arrived; one of {', '.join(FAMILIES)} is needed")
    drawn: Outliers = registry.create("outlier", family)
    if isinstance(drawn, MixedPixel):
        drawn = MixedPixel(window_px=_window_px(truth.truth_m))
    return drawn(truth, share, rng)


def _window_px(depth_m: FloatArray) -> int:
    """Side of the window in which edges are looked for: where readings are sparse, one that holds a few of them."""
    num = max(int(np.count_nonzero(np.isfinite(depth_m))), 1)
    spacing = np.sqrt(depth_m.size / num)
    half = max(_WINDOW_PX // 2, round(1.5 * spacing) if spacing > _WINDOW_PX / 4 else 0)
    return 2 * half + 1


def max_range_m(depth_m: FloatArray) -> float:
    """What a sensor for such a scene says where nothing comes back: 10 m indoors, 80 m beyond that."""
    farthest = float(np.nanmax(depth_m, initial=0.0))
    return _INDOOR_M if farthest <= _INDOOR_M else max(_OUTDOOR_M, farthest)
