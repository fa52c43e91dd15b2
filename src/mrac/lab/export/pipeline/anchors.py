"""Padded readings as a graph: which are usable, and relative depth at each."""

from typing import NamedTuple

import numpy as np

from mrac.lab.export.pipeline.graph import Graph, Tensor
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, Space


class Readings(NamedTuple):
    """N places for readings, as samples of the relation y = scale · x + shift; those not usable hold harmless numbers.

    Attributes:
        usable: (N,) bool.
        u_px, v_px: (N,) double.
        log_z: (N,) double, log metres.
        x: (N,) double, relative depth.
        y: (N,) double, the readings in the space of the fit.
        num: N.
    """

    usable: Tensor
    u_px: Tensor
    v_px: Tensor
    log_z: Tensor
    x: Tensor
    y: Tensor
    num: int


def read(anchors: Tensor, count: Tensor, num: int, field: Tensor, size: tuple[int, int], space: Space) -> Readings:
    """Checks the readings as `anchors._validity` does, but for two in one pixel, and samples the field at them.

    Args:
        anchors: (num, 3) float32: u_px, v_px, z_m.
        count: scalar int64, how many of them there are.
        num: places.
        field: (H, W) float32 relative depth.
        size: (H, W).
        space: of the fit.
    """
    H, W = size
    graph = anchors.graph
    u, v, z = (anchors.cast(np.float64).take(i, axis=1) for i in range(3))
    # A NaN is in no range.
    inside = (u >= -0.5) & (u < W - 0.5) & (v >= -0.5) & (v < H - 0.5) & (z >= MIN_DEPTH_M) & (z <= MAX_DEPTH_M)
    usable = inside & (graph.node("Identity", np.arange(num)) < count)
    u, v, z = graph.where(usable, u, 0.0), graph.where(usable, v, 0.0), graph.where(usable, z, 1.0)
    log_z = z.apply("Log")
    y = z if space == "depth" else log_z if space == "log_depth" else 1.0 / z
    return Readings(usable, u, v, log_z, _bilinear(field, u, v, size), y, num)


def _bilinear(field: Tensor, u_px: Tensor, v_px: Tensor, size: tuple[int, int]) -> Tensor:
    """`relative.sample_bilinear`: (N,) double."""
    H, W = size
    flat = field.reshape(H * W)
    u, v = u_px.clip(0.0, W - 1.0), v_px.clip(0.0, H - 1.0)
    u0 = u.cast(np.int64).clip(0, max(W - 2, 0))
    v0 = v.cast(np.int64).clip(0, max(H - 2, 0))
    u1, v1 = (u0 + 1).clip(0, W - 1), (v0 + 1).clip(0, H - 1)
    fu, fv = u - u0.cast(np.float64), v - v0.cast(np.float64)

    def at(row: Tensor, column: Tensor) -> Tensor:
        return flat.take(row * W + column).cast(np.float64)

    top = at(v0, u0) * (1.0 - fu) + at(v0, u1) * fu
    bottom = at(v1, u0) * (1.0 - fu) + at(v1, u1) * fu
    return top * (1.0 - fv) + bottom * fv


def is_flat(graph: Graph, x: Tensor, chosen: Tensor) -> Tensor:
    """`Samples.flat` of the chosen ones: scalar bool, True where there is none."""
    most = graph.where(chosen, x, -np.inf).max()
    least = graph.where(chosen, x, np.inf).min()
    largest = graph.where(chosen, x, 0.0).apply("Abs").max()
    return (most - least) <= graph.node("Max", largest * 1e-9, 1e-30)
