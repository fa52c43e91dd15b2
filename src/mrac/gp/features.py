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
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.linalg import solveh_banded

from mrac.conventions import FloatArray, ImageArray
from mrac.gp.kernel import FARTHEST, NUM_FEATURES, RELATIVE
from mrac.lazy import computed_once
from mrac.relative import resize_field, typical_range
from mrac.runtime.jit import kernel
from mrac.runtime.parallel import row_bands

_BAND_PIXELS: Final = 1 << 15  # their features, 1 MB, stay in the cache of one core
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
    """

    def __init__(self, image: ImageArray) -> None:
        self.image = image

    @property
    def shape(self) -> tuple[int, int]:
        """(H, W) of the image."""
        return self.image.shape[0], self.image.shape[1]

    @computed_once
    def cells(self) -> tuple[FloatArray, FloatArray]:
        """Colour and regions, see `appearance`."""
        return appearance(self.image)

    @computed_once
    def wide(self) -> NDArray[np.float32]:
        """(5, h, W) colour and regions, upsampled bilinearly to the image's width, but not to its height."""
        cells = np.concatenate(self.cells)
        return np.stack([resize_field(cell, (cells.shape[1], self.shape[1])) for cell in cells])


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
        self._columns = np.minimum(step * np.arange(self.grid[1]), W - 1)
        self._relative = relative
        self._position = np.float32(1.0 / (lengths.position * min(H, W)))
        # Bilinear upsampling in two steps: to the image's width once, between these rows for each band.
        far = np.array([lengths.colour] * 3 + [lengths.region] * 2, np.float32)
        self._wide = appearance.wide / far[:, None, None]
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
        return [(rows.start, rows.stop) for rows in row_bands(top, bottom, max(1, num_nodes // self.grid[1]))]

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
            points[RELATIVE] = 0.0
        else:
            x = self._relative[top:bottom] if self._step == 1 else self._relative[rows[:, None], self._columns]
            _scale_into(x.ravel(), self._low, self._per_length, points[RELATIVE].ravel())
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
    band = np.zeros((h + 1, w * h), np.float32)
    band[0] = own.ravel()
    band[1] -= down.ravel()
    band[h] -= right.ravel()
    right_side = fields.transpose(2, 1, 0).reshape(w * h, n).astype(np.float32)
    smooth = solveh_banded(band, right_side, lower=True, check_finite=False)
    return np.ascontiguousarray(smooth.reshape(w, h, n).transpose(2, 1, 0))


def _smoothness(difference: FloatArray) -> FloatArray:
    return np.asarray(_SMOOTHNESS * np.maximum(np.exp(-np.sqrt((difference**2).sum(axis=0)) / _EDGE), _WEAKEST))


def covered_area(positions_K2: FloatArray) -> float:
    """Area over which (K, 2) positions are spread, K > 2, in their units: that of an evenly covered rectangle.

    From the determinant of their covariance; 0 in a row.
    """
    return 12.0 * math.sqrt(max(float(np.linalg.det(np.cov(positions_K2.T))), 0.0))


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


@kernel
def _scale_into(values: FloatArray, origin: float, per_length: float, out: NDArray[np.float32]) -> None:
    """Writes (values − origin) · per_length into `out`, (P,) each, within ±FARTHEST, whatever the values' size."""
    for p in range(values.size):
        scaled = (np.float64(values[p]) - origin) * per_length
        out[p] = np.float32(min(max(scaled, -FARTHEST), FARTHEST))


def _neighbours(at: FloatArray, size: int) -> tuple[tuple[NDArray[np.intp], FloatArray], ...]:
    """The two pixels around (K,) positions along one axis, and the weight of each."""
    first = np.minimum(at.astype(np.intp), max(size - 2, 0))
    share = at - first
    return (first, 1.0 - share), (np.minimum(first + 1, size - 1), share)
