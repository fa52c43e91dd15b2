"""Least squares as a graph, with the rules of `fit.base` for scenes in which no line is determined."""

from typing import NamedTuple

import numpy as np

from mrac.fit.base import PRIOR_DEPTH_M, PRIOR_SPREAD, UNCHECKED_SPREAD
from mrac.fit.ols import Ols
from mrac.lab.export.pipeline.anchors import Readings, is_flat
from mrac.lab.export.pipeline.graph import Graph, Tensor, masked_median
from mrac.lab.export.pipeline.status import code
from mrac.space import Space, to_space

FITS = (Ols,)
"""Those that a graph can express."""


class Line(NamedTuple):
    """y = scale · x + shift, all scalars, double precision.

    Attributes:
        scale, shift: of the line.
        var_scale, covariance, var_shift: of these two.
        sigma: standard deviation of y around the line.
        num_kept: int64, the readings that it was fitted to.
        flat: bool, whether their x are all one value.
        status: int64, see `status`.
    """

    scale: Tensor
    shift: Tensor
    var_scale: Tensor
    covariance: Tensor
    var_shift: Tensor
    sigma: Tensor
    num_kept: Tensor
    flat: Tensor
    status: Tensor


def solve(graph: Graph, readings: Readings, keep: Tensor, middle: Tensor, space: Space) -> Line:
    """The line through the kept readings.

    Args:
        graph: to add to.
        readings: N places.
        keep: (N,) bool.
        middle: scalar, of the range of relative depth: for a scene without readings.
        space: of y, and of relative depth.
    """
    count = keep.cast(np.int64).sum()
    flat = is_flat(graph, readings.x, keep)
    line = _least_squares(graph, readings, keep, count, space)
    two, rising = count.equal(2), line[0] > 0.0
    determined = (count >= 2) & ~flat & ~(two & ~rising)
    one = _one_unknown(graph, readings, keep, count, middle, space)
    chosen = [graph.where(determined, a, b) for a, b in zip(line, one, strict=True)]
    status = graph.where(line[0] < 0.0, code("negative_slope"), code("ok"))
    status = graph.where(two, code("two_anchors"), status)
    status = graph.where(flat, code("constant_relative_depth"), status)
    status = graph.where(count.equal(1), code("one_anchor"), status)
    status = graph.where(count.equal(0), code("no_anchors"), status)
    scale, shift, var_scale, covariance, var_shift, sigma = chosen
    return Line(scale, shift, var_scale, covariance, var_shift, sigma, count, flat, status)


def _least_squares(graph: Graph, readings: Readings, keep: Tensor, count: Tensor, space: Space) -> list[Tensor]:
    """Scale, shift, their (co)variances and sigma, by `robust_line.least_squares`; meaningless, but finite, if flat.

    Two readings have no scatter: `UNCHECKED_SPREAD` is assumed, as `fit.base` does.
    """
    w = keep.cast(np.float64)
    total = graph.node("Max", w.sum(), 1.0)
    x, y = readings.x, readings.y
    x_mean, y_mean = (w * x).sum() / total, (w * y).sum() / total
    dx = (x - x_mean) * w
    square = (dx * dx).sum()
    square = graph.where(square > 0.0, square, 1.0)
    scale = (dx * (y - y_mean)).sum() / square
    shift = y_mean - scale * x_mean
    residual = (y - (scale * x + shift)) * w
    scatter = ((residual * residual).sum() / graph.node("Max", total - 2.0, 1.0)).apply("Sqrt")
    unchecked = _per_log_depth(y_mean, space) * UNCHECKED_SPREAD
    sigma = graph.where(count.equal(2), unchecked, scatter)
    var_scale = sigma * sigma / square
    var_shift = sigma * sigma / total + x_mean * x_mean * var_scale
    return [scale, shift, var_scale, -x_mean * var_scale, var_shift, sigma]


def _one_unknown(
    graph: Graph, readings: Readings, keep: Tensor, count: Tensor, middle: Tensor, space: Space
) -> list[Tensor]:
    """The same by `fit.base`'s relation with one unknown: through the medians, or through a prior without readings."""
    empty, zero = count.equal(0), graph.node("Identity", 0.0)
    x = graph.where(empty, middle, masked_median(readings.x, keep, count, readings.num))
    y = graph.where(empty, float(to_space(PRIOR_DEPTH_M, space)), masked_median(readings.y, keep, count, readings.num))
    sigma = _per_log_depth(y, space) * graph.where(empty, PRIOR_SPREAD, UNCHECKED_SPREAD)
    variance = sigma * sigma
    if space == "log_depth":
        return [graph.node("Identity", 1.0), y - x, zero, zero, variance, sigma]
    scalable = x > 1e-30
    safe = graph.where(scalable, x, 1.0)
    return [
        graph.where(scalable, y / safe, 0.0),
        graph.where(scalable, 0.0, y),
        graph.where(scalable, variance / (safe * safe), 0.0),
        zero,
        graph.where(scalable, 0.0, variance),
        sigma,
    ]


def _per_log_depth(y: Tensor, space: Space) -> Tensor:
    return y * 0.0 + 1.0 if space == "log_depth" else y.apply("Abs")
