"""Readings of a multizone sensor that came as points: noticed, and used as the means over zones that they are.

A multizone time-of-flight sensor reports the mean depth of each cell of a grid. Its readings are often passed on as
points at the centres of the cells. Points of a regular grid that were measured at single pixels look the same, so the
relative depth decides: whether the readings agree better with its mean over each cell or with its value at the centre.
"""

from typing import Final, NamedTuple

import numpy as np

from mrac.anchors.readings import Anchors
from mrac.checks.agreement import log_likelihoods_at
from mrac.checks.finding import Finding
from mrac.conventions import BoolArray, FloatArray
from mrac.relative import area_means, sample_areas
from mrac.space import Space

_FEWEST, _MOST = 3, 32  # zones along each side; finer ones are nearly points
_MIN_READINGS: Final = 8
_NEAR: Final = 0.1  # of a cell: at its centre, on either axis
_SHARE: Final = 0.6  # of the readings that lie at centres; the rest may have been moved to where a pixel is valid
_LESS: Final = 0.1  # of the share at centres; with no more than so much less a coarser grid is preferred
_FILLED: Final = 0.5  # of the cells between the outermost readings
_SMALLEST_PX: Final = 8.0
_PIXELS: Final = 10  # of a cell along each side, from which its mean is estimated for the decision
# Slope of log depth over the field's. A mean varies less than its pixels: were it 1, a field of noise would gain by it.
_STEEPEST: Final = 1.0
# In nats, by which the means must explain the readings better. Chosen on freshly rendered scenes: docs/sensors.md.
_MARGIN: Final = 1.0


class Sampled(NamedTuple):
    """Relative depth at K readings.

    Attributes:
        x: (K,) its value at each point, or of its mean over each area.
        extent_px: (K, 2) width and height of the areas, as stated or found; None where all readings are points.
        finding: that they are areas, where nobody said so.
    """

    x: FloatArray
    extent_px: FloatArray | None
    finding: Finding | None = None


class Grid(NamedTuple):
    """The cells of K readings.

    Attributes:
        cell_px: (2,) width and height.
        centre_px: (K, 2) where each cell has its centre.
    """

    cell_px: FloatArray
    centre_px: FloatArray


def sample_readings(field: FloatArray, readings: Anchors, space: Space) -> Sampled:
    """The relative field (H, W), finite and in `space`, at readings that may be zones of a regular grid.

    A stated extent holds, 0 for a point. Without one, the mean over the grid's cells is taken where it explains the
    readings better.
    """
    uv_px, stated = readings.uv_px, readings.extent_px
    x = sample_areas(field, uv_px, stated, space)
    grid = None if stated is not None else find_grid(uv_px, (field.shape[0], field.shape[1]))
    if grid is None:
        return Sampled(x, stated)
    means = area_means(_pixels(field, grid), space)
    points, zones = log_likelihoods_at(np.stack([x, means]), readings.z_m, space, _STEEPEST)
    if not zones - points > _MARGIN:
        return Sampled(x, None)
    extent_px = np.broadcast_to(grid.cell_px, uv_px.shape).copy()
    width, height = grid.cell_px
    message = f"readings lie on a grid and agree with the mean depth of its cells, {width:.0f}×{height:.0f} px"
    advice = "they are used as such means; to choose, state extent_px (0 for points) in an .npz or in Anchors"
    finding = Finding("zones", message, advice, is_mistake=False)
    return Sampled(sample_areas(field, grid.centre_px, extent_px, space), extent_px, finding)


def find_grid(uv_px: FloatArray, shape: tuple[int, int]) -> Grid | None:
    """The regular grid at the centres of whose cells most of K readings lie; None without one.

    It covers the image or a part of it. Cells narrower than 8 px, or than a 64th of the image's side where they cover a
    part, are not found, nor are cells of which one has two readings.

    Args:
        uv_px: (K, 2) positions in the image.
        shape: (H, W) of the image.
    """
    if not _MIN_READINGS <= len(uv_px) <= _MOST**2:
        return None
    if (across := _axis(uv_px[:, 0] + 0.5, shape[1])) is None or (down := _axis(uv_px[:, 1] + 0.5, shape[0])) is None:
        return None
    if (across.at_centre & down.at_centre).mean() < _SHARE:
        return None
    cells = np.stack([across.cell, down.cell], axis=1)
    counts = np.ptp(cells, axis=0) + 1.0
    if counts.min() < _FEWEST or len(cells) < _FILLED * counts.prod() or len(np.unique(cells, axis=0)) < len(cells):
        return None
    step = np.array([across.step, down.step])
    return Grid(step, np.array([across.first, down.first]) + cells * step - 0.5)


class _Axis(NamedTuple):
    """A grid along one side: first centre, step, and of each reading (K,) its cell and whether it is at the centre."""

    first: float
    step: float
    cell: FloatArray
    at_centre: BoolArray


def _axis(at: FloatArray, side: int) -> _Axis | None:
    """The coarsest grid with most of the positions (K,) at its centres: over the whole side, or as they lie."""
    steps = side / np.arange(_FEWEST, _MOST + 1.0)
    firsts = 0.5 * steps
    if (spacing := _spacing(at, 0.5 * side / _MOST)) is not None:
        firsts, steps = np.append(firsts, spacing[0]), np.append(steps, spacing[1])
    from_first = at - firsts[:, None]
    cells = np.round(from_first / steps[:, None])
    off = np.abs(from_first - cells * steps[:, None])
    at_centre = off <= _NEAR * steps[:, None]
    share = np.where(steps >= _SMALLEST_PX, at_centre.mean(axis=1), 0.0)
    best = int(np.where(share >= max(_SHARE, share.max() - _LESS), steps, 0.0).argmax())
    cell, used = cells[best], at_centre[best]
    if share[best] < _SHARE or np.ptp(cell[used]) < _FEWEST - 1:
        return None
    # What the readings have, which is near the candidate's; rounded, so that no last digit decides on a pixel.
    step, first = np.round(np.polyfit(cell[used], at[used], 1), 6)
    return _Axis(float(first), float(step), cell, used)


def _spacing(at: FloatArray, apart: float) -> tuple[float, float] | None:
    """First and step of the even spacing that positions (K,) cluster at; None with fewer than three clusters."""
    ordered = np.sort(at)
    clusters = np.split(ordered, np.flatnonzero(np.diff(ordered) > apart) + 1)
    if not _FEWEST <= len(clusters) <= _MOST:
        return None
    middle = np.array([cluster[cluster.size // 2] for cluster in clusters])
    usual = np.quantile(np.diff(middle), 0.5, method="lower")  # one of them: a missing cell doubles its gap
    number = np.round((middle - middle[0]) / usual)
    step = float(middle[-1] - middle[0]) / number[-1]
    return float(np.median(middle - step * number)), step


def _pixels(field: FloatArray, grid: Grid) -> FloatArray:
    """(K, P) values of the field, spread evenly over each cell; beyond the image, those at its edge."""
    part = (np.arange(_PIXELS) + 0.5) / _PIXELS - 0.5
    u, v = (grid.centre_px[:, axis, None] + part * grid.cell_px[axis] for axis in (0, 1))
    row, column = (
        np.clip(np.round(at), 0, side - 1).astype(np.intp) for at, side in zip((v, u), field.shape, strict=True)
    )
    return np.asarray(field[row[:, :, None], column[:, None, :]].reshape(len(u), -1), np.float64)
