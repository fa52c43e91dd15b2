"""Where every pixel lies among eight features that make two of them alike, a band of rows at a time.

All pixels at once would be 32 bytes each, 1.6 GB at 50 megapixels; what colour and region say is known for a few
thousand cells only, so a band is made when it is needed, in less time than it takes to read it back from memory. For
the same reason a field over these features is smooth, and may be asked at every `step`th pixel only.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gp.appearance import Looks
from mrac.gp.posterior import FARTHEST, NUM_FEATURES, scale_into
from mrac.relative import typical_range

_BAND_PIXELS: Final = 1 << 15  # their features, 1 MB, stay in the cache of one core


class Lengths(NamedTuple):
    """What counts as far, by feature. The defaults were set on the training pack, and serve gate and head.

    Attributes:
        position: as a share of the image's shorter side.
        region: of the coordinates that respect edges, as a share of the shorter side.
        relative: as a share of the relative field's range, or of what stands for it.
        colour: in opponent colour, white to black being 1.
    """

    position: float = 1.6
    region: float = 0.8
    relative: float = 0.8
    colour: float = 4.0


class Features:
    """The scaled features of an image's pixels, on demand.

    Args:
        looks: of the image.
        relative: (H, W) relative depth, or None where there is none.
        lengths: what counts as far.
        x_range: from where to where relative depth is taken to lie; None finds it.
        step: bands are of the nodes of a grid, at every `step`th pixel from the first on, along both axes; the last
            node of a row or column may lie beyond the image, and looks like the pixel at its border.

    Attributes:
        grid: (rows, columns) of nodes; (H, W) if `step` is 1.
    """

    def __init__(
        self,
        looks: Looks,
        relative: FloatArray | None,
        lengths: Lengths,
        x_range: tuple[float, float] | None = None,
        step: int = 1,
    ) -> None:
        H, W = self._shape = looks.shape
        self._step, self.grid = step, (-(-(H - 1) // step) + 1, -(-(W - 1) // step) + 1)
        self._columns = np.minimum(step * np.arange(self.grid[1]), W - 1)
        self._relative = relative
        self._position = np.float32(1.0 / (lengths.position * min(H, W)))
        # Bilinear enlargement in two steps: to the image's width once, between these rows for each band.
        far = np.array([lengths.colour] * 3 + [lengths.region] * 2, np.float32)
        self._wide = looks.wide / far[:, None, None]
        self._narrow = self._wide if step == 1 else np.ascontiguousarray(self._wide[:, :, self._columns])
        self._low, self._per_length = 0.0, 0.0
        if relative is not None:
            self._low, high = typical_range(relative) if x_range is None else x_range
            self._per_length = 1.0 / max(lengths.relative * (high - self._low), 1e-30)

    def bands(self) -> list[tuple[int, int]]:
        """Rows of nodes (top, bottom) of each band of a size that suits the machine, whatever the number of cores."""
        return self.split(0, self.grid[0], _BAND_PIXELS)

    def split(self, top: int, bottom: int, num_nodes: int) -> list[tuple[int, int]]:
        """Rows [top, bottom) in bands of about `num_nodes`, at least one row each."""
        rows = max(1, num_nodes // self.grid[1])
        return [(first, min(first + rows, bottom)) for first in range(top, bottom, rows)]

    def band(self, top: int, bottom: int) -> NDArray[np.float32]:
        """(NUM_FEATURES, rows · columns) float32 of the nodes in rows [top, bottom) of the grid."""
        points = np.empty((NUM_FEATURES, bottom - top, self.grid[1]), np.float32)
        rows = self._step * np.arange(top, bottom)
        points[0] = (self._step * np.arange(self.grid[1])).astype(np.float32) * self._position
        points[1] = (rows.astype(np.float32) * self._position)[:, None]
        rows = np.minimum(rows, self._shape[0] - 1)
        above, below, share = self._between(rows)
        np.multiply(self._narrow[:, above], (np.float32(1.0) - share)[:, None], out=points[2:7])
        points[2:7] += self._narrow[:, below] * share[:, None]
        if self._relative is None:
            points[7] = 0.0
        else:
            x = self._relative[top:bottom] if self._step == 1 else self._relative[rows[:, None], self._columns]
            scale_into(x.ravel(), self._low, self._per_length, points[7].ravel())
        return points.reshape(NUM_FEATURES, -1)

    def _between(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
        """The rows of cells above and below the centres of pixel `rows`, and how far below the upper one they lie."""
        H, h = self._shape[0], self._wide.shape[1]
        at = np.clip((rows + 0.5) * (h / H) - 0.5, 0.0, h - 1.0)
        above = at.astype(np.intp)
        return above, np.minimum(above + 1, h - 1), (at - above).astype(np.float32)

    def at(self, uv_px: FloatArray, x: FloatArray | None) -> NDArray[np.float32]:
        """(K, NUM_FEATURES) at (K, 2) positions, where relative depth is `x` (K,).

        Between pixels, they are what bilinear reading of the pixels' features would give.
        """
        H, W = self._shape
        anchors = np.zeros((len(uv_px), NUM_FEATURES), np.float32)
        anchors[:, :2] = uv_px * self._position
        u, v = np.clip(uv_px[:, 0], 0.0, W - 1.0), np.clip(uv_px[:, 1], 0.0, H - 1.0)
        for row, in_row in _neighbours(v, H):
            above, below, share = self._between(row)
            for column, in_column in _neighbours(u, W):
                value = self._wide[:, above, column] * (np.float32(1.0) - share) + self._wide[:, below, column] * share
                anchors[:, 2:7] += (value * (in_row * in_column)).T
        if self._relative is not None and x is not None:
            anchors[:, 7] = np.clip((x - self._low) * self._per_length, -FARTHEST, FARTHEST)
        return anchors


def _neighbours(at: FloatArray, size: int) -> tuple[tuple[NDArray[np.intp], FloatArray], ...]:
    """The two pixels around (K,) positions along one axis, and the weight of each."""
    first = np.minimum(at.astype(np.intp), max(size - 2, 0))
    share = at - first
    return (first, 1.0 - share), (np.minimum(first + 1, size - 1), share)
