"""Heads as a graph: from the line to dense depth and its standard deviation."""

import math

import numpy as np
import onnx

from mrac.head._learned import LearnedHead
from mrac.head._rendering import SIGMA_FLOOR, working_size
from mrac.head.affine import Affine
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.lab.export.pipeline.anchors import Readings
from mrac.lab.export.pipeline.fit import Line
from mrac.lab.export.pipeline.foundation import Field
from mrac.lab.export.pipeline.graph import Graph, Tensor
from mrac.lab.export.pipeline.resize import resize_bytes, resize_field
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SIGMA_SHARE, Space, to_space

HEADS = (Affine, ResidualUnet, RawUnet)
"""Those that a graph can express; of learned heads those in metres, which all in the package are."""


def affine(line: Line, x: Tensor, space: Space) -> tuple[Tensor, Tensor]:
    """Depth and its standard deviation, float64, at double relative values `x` (H, W): `head.affine`."""
    depth = _from_space(x * line.scale + line.shift, space)
    variance = x * x * line.var_scale + x * (line.covariance * 2.0) + line.var_shift
    std = (x.graph.node("Max", variance, 0.0) + line.sigma * line.sigma).apply("Sqrt")
    if space == "inverse_depth":
        std = std * depth * depth
    elif space == "log_depth":
        std = std * depth
    low, high = SIGMA_SHARE
    least = x.graph.node("Max", std, depth * low)
    return depth, x.graph.node("Min", least, depth * high)


def learned(
    head: LearnedHead, image: Tensor, field: Field, readings: Readings, keep: Tensor, line: Line, size: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Depth and its standard deviation, float32 (H, W), by the head's network, and whether it applies: scalar bool."""
    graph, file = image.graph, head.head_file()
    grid = working_size(size, head.num_pixels or file.num_pixels)
    x = field.values.cast(np.float64)
    span = (field.high - field.low).cast(np.float64)
    low, high = field.low.cast(np.float64), field.high.cast(np.float64)
    varies = span > graph.node("Max", low.apply("Abs"), high.apply("Abs")) * 1e-6
    span = graph.where(varies, span, 1.0)
    small = resize_field(field.values.reshape(*size, 1), size, grid, "box").cast(np.float64)
    mask, z_m = _rendered(graph, readings, keep, size, grid)
    inputs = {
        "image": resize_bytes(image, size, grid, "box").transpose(2, 0, 1).reshape(1, 3, *grid),
        "relative": ((small - low) / span).clip(-1.0, 2.0).reshape(1, 1, *grid),
        "mask": mask.reshape(1, 1, *grid),
        "anchor": z_m.reshape(1, 1, *grid),
    }
    model = onnx.load(str(file.path), load_external_data=False)  # `HeadFile` has looked into it
    maps = graph.embed(model, {name: values.cast(np.float32) for name, values in inputs.items()}, "head")
    num = model.graph.output[0].type.tensor_type.shape.dim[1].dim_value
    large = resize_field(maps.reshape(num, *grid).transpose(1, 2, 0), grid, size, "bilinear")
    outputs = [large.take(i, axis=2) for i in range(num)]
    enough = line.num_kept >= 2
    if head.kind == "raw":
        depth = _from_space(outputs[0].cast(np.float64), "log_depth")
    else:
        enough = enough & ~line.flat
        correction = outputs[0].cast(np.float64) * ((x - low) / span) + outputs[1].cast(np.float64)
        depth = _from_space((x * line.scale + line.shift) + correction, file.space)
    depth_m = depth.cast(np.float32)
    return depth_m, depth_m * _share_of_depth(outputs[-1]), enough


def _rendered(
    graph: Graph, readings: Readings, keep: Tensor, size: tuple[int, int], grid: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Mask and depth (h · w,) double, by `head._rendering.render`: of several in one pixel the mean of log depth."""
    (H, W), (h, w) = size, grid

    def cell(px: Tensor, share: float, side: int) -> Tensor:
        return ((px + 0.5) * share).apply("Floor").clip(0.0, side - 1.0).cast(np.int64)

    pixel = cell(readings.v_px, h / H, h) * w + cell(readings.u_px, w / W, w)
    pixel = graph.where(keep, pixel, h * w)  # all others go into one more pixel, which is left away
    nothing = np.zeros(h * w + 1)

    def scattered(values: Tensor) -> Tensor:
        total = graph.node("ScatterElements", nothing, pixel, values, axis=0, reduction="add")
        return total.slice(0, h * w, 1, 0)

    count = scattered(keep.cast(np.float64))
    seen = count > 0.0
    mean = scattered(readings.log_z) / graph.node("Max", count, 1.0)
    return seen.cast(np.float64), graph.where(seen, mean.apply("Exp"), 0.0)


def _from_space(y: Tensor, space: Space) -> Tensor:
    low, high = sorted(float(end) for end in to_space([MIN_DEPTH_M, MAX_DEPTH_M], space))
    clipped = y.clip(low, high)
    if space == "inverse_depth":
        return 1.0 / clipped
    return clipped.apply("Exp") if space == "log_depth" else clipped


def _share_of_depth(log_variance: Tensor) -> Tensor:
    """`head._learned.share_of_depth`, float32."""
    low, high = (np.float32(end) for end in SIGMA_SHARE)
    capped = log_variance.graph.node("Min", log_variance, np.float32(2.0 * math.log(high)))
    return (capped.apply("Exp") + np.float32(SIGMA_FLOOR**2)).apply("Sqrt").clip(low, high)
