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
from mrac.relative import sample_areas
from mrac.space import Space

_FEWEST, _MOST = 3, 32  # zones along each side; finer ones are nearly points
_MIN_READINGS: Final = 8
_NEAR: Final = 0.1  # of a cell: at its centre, on either axis
_ROUNDING_PX: Final = 0.75  # positions may be rounded to pixels, and count from their centres or corners
_SHARE: Final = 0.6  # of the readings that lie at centres; the rest may have been moved to where a pixel is valid
_FILLED: Final = 0.5  # of the cells between the outermost readings
_SMALLEST_PX: Final = 8.0
# In nats, by which the means must explain the readings better. Chosen on freshly rendered scenes: docs/sensors.md.
_MARGIN: Final = 2.0


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


def sample_readings(field: FloatArray, readings: Anchors, space: Space) -> Sampled:
    """The relative field (H, W), finite and in `space`, at readings that may be zones of a regular grid.

    A stated extent holds, 0 for a point. Without one, the mean over the grid's cells is taken where it explains the
    readings better.
    """
    uv_px, stated = readings.uv_px, readings.extent_px
    x = sample_areas(field, uv_px, stated, space)
    cell_px = None if stated is not None else grid_cell(uv_px, (field.shape[0], field.shape[1]))
    if cell_px is None:
        return Sampled(x, stated)
    extent_px = np.broadcast_to(cell_px, uv_px.shape).copy()
    means = sample_areas(field, uv_px, extent_px, space)
    points, zones = log_likelihoods_at(np.stack([x, means]), readings.z_m, space)
    if zones - points <= _MARGIN:
        return Sampled(x, None)
    width, height = cell_px
    message = f"readings lie on a grid and agree with the mean depth of its cells, {width:.0f}×{height:.0f} px"
    advice = "They are used as such means. State extent_px, 0 for points, to choose yourself."
    return Sampled(means, extent_px, Finding("zones", message, advice))


def grid_cell(uv_px: FloatArray, shape: tuple[int, int]) -> FloatArray | None:
    """(2,) width and height of the cells of a regular grid at whose centres most of K readings lie; None without one.

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
    return np.array([across.step, down.step])


class _Axis(NamedTuple):
    """Of a grid along one side: its step, and of each reading (K,) its cell and whether it is at the centre."""

    step: float
    cell: FloatArray
    at_centre: BoolArray


def _axis(at: FloatArray, side: int) -> _Axis | None:
    """The coarsest grid with enough of the positions (K,) at its centres: over the whole side, or as they lie."""
    steps = side / np.arange(_FEWEST, _MOST + 1.0)
    firsts = 0.5 * steps
    if (spacing := _spacing(at, 0.5 * side / _MOST)) is not None:
        firsts, steps = np.append(firsts, spacing[0]), np.append(steps, spacing[1])
    from_first = at - firsts[:, None]
    cells = np.round(from_first / steps[:, None])
    off = np.abs(from_first - cells * steps[:, None])
    at_centre = off <= np.maximum(_NEAR * steps, _ROUNDING_PX)[:, None]
    steps = np.where((at_centre.mean(axis=1) >= _SHARE) & (steps >= _SMALLEST_PX), steps, 0.0)
    best = int(steps.argmax())
    return _Axis(float(steps[best]), cells[best], at_centre[best]) if steps[best] > 0.0 else None


def _spacing(at: FloatArray, apart: float) -> tuple[float, float] | None:
    """First and step of the even spacing that positions (K,) cluster at; None with fewer than three clusters."""
    ordered = np.sort(at)
    clusters = np.split(ordered, np.flatnonzero(np.diff(ordered) > apart) + 1)
    if not _FEWEST <= len(clusters) <= _MOST:
        return None
    middle = np.array([cluster[cluster.size // 2] for cluster in clusters])
    number = np.round((middle - middle[0]) / np.median(np.diff(middle)))  # cells without a reading count
    step = float(middle[-1] - middle[0]) / number[-1]
    return float(np.median(middle - step * number)), step
