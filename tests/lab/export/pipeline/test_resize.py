"""Pillow is the reference, to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from mrac.lab.export.check import run
from mrac.lab.export.pipeline.graph import Graph, Tensor
from mrac.lab.export.pipeline.resize import Filter, resize_bytes, resize_field

RESAMPLING = {
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}
SIDES = st.integers(1, 90)


def resized(
    values: NDArray[Any], new_size: tuple[int, int], kind: Filter, resize: Callable[..., Tensor]
) -> NDArray[Any]:
    graph = Graph()
    source = graph.input("x", values.dtype, values.shape)
    result = resize(source, values.shape[:2], new_size, kind)
    dtype = np.int32 if values.dtype == np.uint8 else np.float32
    graph.output("y", result, dtype, (*new_size, values.shape[2]))
    return run(graph.model({}), {"x": values})[0]


@settings(max_examples=40, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.sampled_from(list(RESAMPLING)), st.integers(0, 2**32 - 1))
def test_bytes_are_those_of_pillow(H: int, W: int, h: int, w: int, kind: Filter, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (H, W, 3), dtype=np.uint8)
    expected = np.asarray(Image.fromarray(image).resize((w, h), RESAMPLING[kind]))
    np.testing.assert_array_equal(resized(image, (h, w), kind, resize_bytes), expected)


@pytest.mark.parametrize("kind", ["box", "bilinear"])
@pytest.mark.parametrize(("size", "new_size"), [((72, 96), (200, 333)), ((200, 333), (71, 97)), ((50, 40), (50, 80))])
def test_a_field_is_that_of_pillow(size: tuple[int, int], new_size: tuple[int, int], kind: Filter) -> None:
    field = np.random.default_rng(0).normal(size=size).astype(np.float32)
    expected = np.asarray(Image.fromarray(field).resize(new_size[::-1], RESAMPLING[kind]))
    np.testing.assert_array_equal(resized(field[..., None], new_size, kind, resize_field)[..., 0], expected)
