"""A beam across an edge: t · foreground + (1 − t) · background, t ~ U(0.3, 0.7), at the strongest edges first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.outliers.base import Outliers, Truth
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class MixedPixel(Outliers):
    """Foreground and background are the least and the largest truth in a window around the anchor.

    The anchors with the largest difference of the two, in metres, are the ones corrupted. One without any truth in its
    window comes last and keeps its reading.

    Attributes:
        low: the least share of the foreground.
        high: its largest share.
        window_px: side of the window, odd.
    """

    low: float = 0.3
    high: float = 0.7
    window_px: int = 31

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1.0, ("low", "high"))
        check_numbers(self, 1, 10_001, ("window_px",))
        if self.low > self.high:
            raise ContractError(f"outliers/mixed_pixel: low = {self.low:g} is over high = {self.high:g}")
        if self.window_px % 2 == 0:
            raise ContractError(f"outliers/mixed_pixel: window_px = {self.window_px}; an odd number is needed")

    def choose(self, truth: Truth, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `Outliers`; of equal edges the anchor that was drawn first."""
        foreground, background = self._edge(truth)
        edge_m = np.where(np.isnan(foreground), -1.0, background - foreground)
        return np.argsort(-edge_m, kind="stable")[:count]

    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """See `Outliers`."""
        foreground, background = self._edge(truth)
        share = rng.uniform(self.low, self.high, truth.z_m.size)
        return np.where(np.isnan(foreground), truth.z_m, share * foreground + (1.0 - share) * background)

    def _edge(self, truth: Truth) -> tuple[FloatArray, FloatArray]:
        """(K,) least and largest truth in each window; NaN without any."""
        half = self.window_px // 2
        ends = np.full((2, truth.z_m.size), np.nan)
        H, W = truth.truth_m.shape
        for k in np.flatnonzero(np.isfinite(truth.uv_px).all(axis=1)):
            u, v = np.rint(truth.uv_px[k]).clip(-half - 1, (W + half, H + half)).astype(np.int64)  # there: no window
            window = truth.truth_m[max(v - half, 0) : max(v + half + 1, 0), max(u - half, 0) : max(u + half + 1, 0)]
            window = window[np.isfinite(window)]
            if window.size:
                ends[:, k] = window.min(), window.max()
        return ends[0], ends[1]


IMPLEMENTATION = MixedPixel
