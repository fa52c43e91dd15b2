"""The eight features of a pixel that the kernel compares: position, colour, region, relative depth.

Features of all pixels at once would take 32 bytes each, 1.6 GB at 50 megapixels. Colour and region are known for a few
thousand cells only, so a band of rows is made when it is needed, in less time than reading it back from memory would
take. The process varies slowly between pixels, so it may be predicted at every `step`th pixel and upsampled.

Regions are edge-aware coordinates: pixel positions after edge-preserving smoothing (weighted least squares, as in
Farbman et al., "Edge-preserving decompositions", 2008, applied to positions instead of intensities). Inside one surface
they are nearly equal, across a colour edge they differ: their difference is a distance within a surface. On the
training pack they lower the error of kriging without a network by 12 % at 50 and at 200 anchors.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.gp.banded import diagonal, empty_band, solve_banded
from mrac.gp.cells import fill_band, fill_readings, scale_into
from mrac.gp.kernel import FARTHEST, NUM_FEATURES, RELATIVE
from mrac.lazy import computed_once
from mrac.relative import typical_range
from mrac.runtime.parallel import row_bands

_BAND_PIXELS: Final = 1 << 15  # their features, 1 MB, stay in the cache of one core
_MIN_BANDS: Final = 4  # the same on any number of cores, so that results do not depend on it
# The short side is worked on in this many cells: finer costs cubically more and gained 2 % at 200 anchors only.
_CELLS: Final = 60
_MAX_CELLS: Final = 6000  # along the long side: reached at an aspect ratio of 100, where the band would take gigabytes
# Smoothness weight between neighbouring cells, and the colour difference at which it falls to 1/e. Set on the training
# pack; the error is flat to within 1 % from 400 to 3000 and from 0.015 to 0.04.
_SMOOTHNESS: Final = 1000.0
_EDGE: Final = 0.02
_WEAKEST: Final = 1e-6  # relative to the full weight: no cell is ever disconnected, the system stays well conditioned


class ImageAppearance:
    """An image whose appearance is computed on first use, and once: gate and head share it.

    Args:
        image: (H, W, 3) uint8.

    Attributes:
        kept: what a stage computed of the image and its readings before its turn, by what it was computed from.
    """

    def __init__(self, image: ImageArray) -> None:
        self.image = image
        self.kept: dict[tuple[object, ...], Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(H, W) of the image."""
        return self.image.shape[0], self.image.shape[1]

    @computed_once
    def cells(self) -> tuple[FloatArray, FloatArray]:
        """Colour and regions, see `appearance`."""
        return appearance(self.image)


class LengthScales(NamedTuple):
    """Length scale of each feature. The defaults were set on the training pack, and serve gate, fit and head.

    Attributes:
        position: as a share of the image's shorter side.
        region: of the edge-aware coordinates, as a share of the shorter side.
        relative: as a share of the range of the relative field.
        colour: in opponent colour, white to black being 1.
    """

    position: float = 1.6
    region: float = 0.8
    relative: float = 0.8
    colour: float = 4.0


class PixelFeatures:
    """The features of an image's pixels divided by their length scales, computed on demand.

    Args:
        appearance: of the image.
        relative: (H, W) relative depth, or None where there is none.
        lengths: the length scales.
        x_range: the range of relative depth; None takes `typical_range` of the field.
        step: bands are of the nodes of a grid, at every `step`th pixel from the first on, along both axes; the last
            node of a row or column may lie beyond the image, and has the features of the pixel at its border.

    Attributes:
        grid: (rows, columns) of nodes; (H, W) if `step` is 1.
    """

    def __init__(
        self,
        appearance: ImageAppearance,
        relative: FloatArray | None,
        lengths: LengthScales,
        x_range: tuple[float, float] | None = None,
        step: int = 1,
    ) -> None:
        H, W = self._shape = appearance.shape
        self._step, self.grid = step, (-(-(H - 1) // step) + 1, -(-(W - 1) // step) + 1)
        self._relative = relative
        self._position = np.float32(1.0 / (lengths.position * min(H, W)))
        far = np.array([lengths.colour] * 3 + [lengths.region] * 2, np.float32)
        self._cells: NDArray[np.float32] = np.asarray(np.concatenate(appearance.cells) / far[:, None, None], np.float32)
        self._low, self._per_length = 0.0, 0.0
        if relative is not None:
            self._low, high = typical_range(relative) if x_range is None else x_range
            self._per_length = 1.0 / max(lengths.relative * (high - self._low), 1e-30)

    def bands(self) -> list[tuple[int, int]]:
        """Rows of nodes (top, bottom) of each band: of a size that suits a core's cache, and enough for a few cores."""
        num_rows, num_columns = self.grid
        return self.split(0, num_rows, min(_BAND_PIXELS, -(-num_rows // _MIN_BANDS) * num_columns))

    def split(self, top: int, bottom: int, num_nodes: int) -> list[tuple[int, int]]:
        """Rows [top, bottom) in bands of about `num_nodes`, at least one row each."""
        return [(rows.start, rows.stop) for rows in row_bands(top, bottom, max(1, num_nodes // self.grid[1]))]

    def band(self, top: int, bottom: int) -> NDArray[np.float32]:
        """(NUM_FEATURES, rows · columns) float32 of the nodes in rows [top, bottom) of the grid."""
        points = np.empty((NUM_FEATURES, bottom - top, self.grid[1]), np.float32)
        fill_band(self._cells, self._shape, self._step, top, self._position, points)
        if self._relative is None:
            points[RELATIVE] = 0.0
        else:
            scale_into(self._relative, self._step, top, self._low, self._per_length, points[RELATIVE])
        return points.reshape(NUM_FEATURES, -1)

    def at(self, uv_px: FloatArray, x: FloatArray | None) -> NDArray[np.float32]:
        """(K, NUM_FEATURES) at (K, 2) positions, where relative depth is `x` (K,).

        Between pixels, they are what bilinear reading of the pixels' features would give.
        """
        anchors = np.zeros((len(uv_px), NUM_FEATURES), np.float32)
        anchors[:, :2] = uv_px * self._position
        fill_readings(self._cells, self._shape, uv_px, anchors)
        if self._relative is not None and x is not None:
            anchors[:, RELATIVE] = np.clip((x - self._low) * self._per_length, -FARTHEST, FARTHEST)
        return anchors


def appearance(image: ImageArray) -> tuple[FloatArray, FloatArray]:
    """Colour and edge-aware coordinates of an (H, W, 3) image, on a grid of h · w cells that cover it evenly.

    Returns:
        Colour: (3, h, w) float32 lightness, red–green and yellow–blue; white to black is 1.
        Regions: (2, h, w) edge-aware coordinates u and v, in units of the image's shorter side.
    """
    H, W = image.shape[:2]
    colour = _opponents(image)
    h, w = colour.shape[1:]
    v, u = np.mgrid[0:h, 0:w]
    positions = np.stack([(u + 0.5) * (W / w), (v + 0.5) * (H / h)]) / min(H, W)
    return colour, smooth_within_edges(positions, colour)


def cell_grid(height: int, width: int) -> tuple[int, int]:
    """(h, w) of the cells of an image of that size."""
    step = max(1, round(min(height, width) / _CELLS), -(-max(height, width) // _MAX_CELLS))
    return max(1, height // step), max(1, width // step)


def _opponents(image: ImageArray) -> FloatArray:
    """Opponent colours of the image downsampled to cells: (3, h, w) float32."""
    small = Image.fromarray(image).resize(cell_grid(*image.shape[:2])[::-1], Image.Resampling.BOX)
    r, g, b = np.moveaxis(np.asarray(small, dtype=np.float32), 2, 0) / np.float32(255.0)
    return np.stack([(r + g + b) / np.float32(3.0), r - g, (r + g) / np.float32(2.0) - b])


def smooth_within_edges(fields: FloatArray, guide: FloatArray) -> FloatArray:
    """Edge-preserving smoothing of (n, h, w) fields, guided by the colours (c, h, w) of the cells.

    Minimises Σ (f' − f)² + Σ over neighbours of weight · (f'_i − f'_j)²: one banded, positive definite system.
    """
    if fields.shape[1] > fields.shape[2]:  # the band is as wide as a column is long: which should be the short side
        return smooth_within_edges(fields.swapaxes(1, 2), guide.swapaxes(1, 2)).swapaxes(1, 2)
    n, h, w = fields.shape
    if h * w == 1:
        return fields
    # In single precision, in half the time: the smoothness weights bound the condition number at 8,000, so that
    # positions are right to a thousandth of the shorter side.
    down = np.zeros((w, h), np.float32)
    down[:, : h - 1] = _smoothness(guide[:, 1:] - guide[:, :-1]).T
    right = np.zeros((w, h), np.float32)
    right[: w - 1] = _smoothness(guide[:, :, 1:] - guide[:, :, :-1]).T
    own = 1.0 + down + right
    own[:, 1:] += down[:, : h - 1]
    own[1:] += right[: w - 1]
    band, at = empty_band(w * h, h), diagonal(h)
    band[: w * h, at] = own.ravel()
    band[1 : w * h, at - 1] -= down.ravel()[:-1]
    band[h : w * h, at - h] -= right[: w - 1].ravel()
    smooth = fields.transpose(0, 2, 1).reshape(n, w * h).astype(np.float32)
    solve_banded(band, h, smooth)
    return np.ascontiguousarray(smooth.reshape(n, w, h).transpose(0, 2, 1))


def _smoothness(difference: FloatArray) -> FloatArray:
    return np.asarray(_SMOOTHNESS * np.maximum(np.exp(-np.sqrt((difference**2).sum(axis=0)) / _EDGE), _WEAKEST))


def covered_area(positions_K2: FloatArray) -> float:
    """Area over which (K, 2) positions are spread, K > 2, in their units: that of an evenly covered rectangle.

    From the determinant of their covariance; 0 in a row.
    """
    u, v = (positions_K2 - positions_K2.mean(axis=0)).T
    det = float(u @ u) * float(v @ v) - float(u @ v) ** 2
    return 12.0 * math.sqrt(max(det, 0.0)) / (len(positions_K2) - 1)


def features_without_image(
    uv_px: FloatArray, x: FloatArray | None, x_range: tuple[float, float], lengths: LengthScales
) -> FloatArray:
    """(K, NUM_FEATURES) as `PixelFeatures.at` would give them, from position and relative depth alone.

    Args:
        uv_px: (K, 2).
        x: (K,) relative depth, or None where there is none.
        x_range: the range of the relative field.
        lengths: the length scales.
    """
    spans = np.ptp(uv_px, axis=0)
    # The readings span most of the image, unless they lie on a line.
    side = max(math.sqrt(spans[0] * spans[1]), 0.3 * float(spans.max()), 1.0)
    features = np.zeros((len(uv_px), NUM_FEATURES))
    features[:, :2] = uv_px / (lengths.position * side)
    if x is not None:
        low, high = x_range
        features[:, RELATIVE] = (x - low) / max(lengths.relative * (high - low), 1e-30)
    return np.clip(features, -FARTHEST, FARTHEST)
