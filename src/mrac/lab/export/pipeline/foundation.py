"""The embedded network as a graph: from an image of one size to relative depth, equal to `foundation.embedded`."""

import math
from typing import NamedTuple

import numpy as np
import onnx

from mrac.foundation.embedded import Embedded, input_size
from mrac.lab.export.pipeline.graph import Graph, Tensor, ordered
from mrac.lab.export.pipeline.resize import resize_bytes, resize_field
from mrac.relative import LOG_REACH, RANGE_QUANTILES, TYPICAL_PIXELS
from mrac.runtime.onnx_check import check_onnx
from mrac.space import Space

_OUTPUT_SHARE = 2  # the network's map has half the sides of its input


class Field(NamedTuple):
    """Relative depth in a graph.

    Attributes:
        values: (H, W) float32.
        low, high: 2nd and 98th percentile, order statistics, as `head._rendering.Normalisation` takes them; float32.
        middle: of `relative.typical_range`, float64.
    """

    values: Tensor
    low: Tensor
    high: Tensor
    middle: Tensor


def log_depth(graph: Graph, image: Tensor, size: tuple[int, int], network: Embedded) -> Tensor:
    """(H, W) float32 log depth up to a shift, of an (H, W, 3) uint8 image of `size` (H, W)."""
    h, w = input_size(*size)
    pixels = resize_bytes(image, size, (h, w), "bicubic").cast(np.float32).transpose(2, 0, 1).reshape(1, 3, h, w)
    if network.mirror:
        pixels = graph.node("Concat", pixels, _mirrored(pixels, 3), axis=0)
    check_onnx(network.file, "foundation/embedded")
    model = onnx.load(str(network.file), load_external_data=False)
    maps = graph.embed(model, {model.graph.input[0].name: pixels}, "foundation")
    out = h // _OUTPUT_SHARE, w // _OUTPUT_SHARE
    values = maps.slice(0, 1, 1, 0).reshape(*out)
    if network.mirror:
        values = (values + _mirrored(maps.slice(1, 2, 1, 0).reshape(*out), 1)) / np.float32(2)
    return resize_field(values.reshape(*out, 1), out, size, "bilinear").reshape(*size)


def relative_depth(log_z: Tensor, size: tuple[int, int], space: Space) -> Field:
    """Log depth (H, W) converted as `relative.in_space` does, with its percentiles."""
    H, W = size
    num = H * W
    up = ordered(log_z.reshape(num), num)
    # Conversion keeps the order, or turns it round: one sort finds the median and, before it, both percentiles.
    places = [round(q * (num - 1)) for q in RANGE_QUANTILES]
    low, high = (up.take(place) for place in places)
    if space == "log_depth":
        return Field(log_z, low, high, _typical_middle(log_z, size))
    median = (up.take((num - 1) // 2) + up.take(num // 2)) / np.float32(2)
    sign = np.float32(1 if space == "depth" else -1)

    def converted(values: Tensor) -> Tensor:
        reach = np.float32(LOG_REACH)
        return ((values - median).clip(-reach, reach) * sign).apply("Exp")

    values = converted(log_z)
    if space == "inverse_depth":
        # Of the converted field in ascending order, place p is place num − 1 − p of log depth.
        low, high = (up.take(num - 1 - place) for place in places)
    return Field(values, converted(low), converted(high), _typical_middle(values, size))


def _mirrored(values: Tensor, axis: int) -> Tensor:
    return values.slice(-1, np.iinfo(np.int64).min, -1, axis)


def _typical_middle(values: Tensor, size: tuple[int, int]) -> Tensor:
    """The mean of both ends of `relative.typical_range`."""
    H, W = size
    stride = max(1, math.isqrt(H * W // TYPICAL_PIXELS))
    some = values.slice(0, H, stride, 0).slice(0, W, stride, 1)
    num = -(-H // stride) * -(-W // stride)
    up = ordered(some.reshape(num).cast(np.float64), num)
    ends = []
    for q in RANGE_QUANTILES:
        place = q * (num - 1)
        first = int(place)
        ends.append(up.take(first) * (first + 1 - place) + up.take(min(first + 1, num - 1)) * (place - first))
    return (ends[0] + ends[1]) * 0.5
