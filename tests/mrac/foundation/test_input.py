"""Our way from an image to a network's input, against transformers' own processors."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers.models.dpt.image_processing_pil_dpt import DPTImageProcessorPil
from transformers.models.zoedepth.image_processing_pil_zoedepth import ZoeDepthImageProcessorPil

from mrac.foundation._depth_anything import DepthAnything
from mrac.foundation._depth_pro import DepthPro
from mrac.foundation._dpt import Dpt
from mrac.foundation._input import covering_size
from mrac.foundation._zoedepth import ZoeDepth
from tests.mrac.foundation.test_settings import ANYTHING
from tests.networks import published

SHAPES = [(480, 640), (240, 320), (375, 1242), (101, 67), (33, 517), (519, 31), (768, 1025), (32, 32), (1080, 1921)]


def picture(shape: tuple[int, int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(sum(shape)).integers(0, 256, (*shape, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
def test_depth_anything_sees_what_transformers_shows_it(shape: tuple[int, int]) -> None:
    processor = DPTImageProcessorPil(
        size={"height": 518, "width": 518},
        keep_aspect_ratio=True,
        ensure_multiple_of=14,
        image_mean=list(ANYTHING.mean),
        image_std=list(ANYTHING.std),
    )
    theirs = processor(picture(shape), return_tensors="np")["pixel_values"][0]
    family = DepthAnything(published.depth_anything("small"), {}, "checkpoint", "here")
    np.testing.assert_array_equal(family.prepare(picture(shape)), theirs)


@pytest.mark.parametrize("shape", SHAPES)
def test_dpt_sees_what_transformers_shows_it(shape: tuple[int, int]) -> None:
    theirs = DPTImageProcessorPil()(picture(shape), return_tensors="np")["pixel_values"][0]
    np.testing.assert_array_equal(Dpt(published.dpt_large(), {}, "checkpoint", "here").prepare(picture(shape)), theirs)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != (1080, 1921)])
def test_zoedepth_sees_what_transformers_shows_it(shape: tuple[int, int]) -> None:
    theirs = ZoeDepthImageProcessorPil(ensure_multiple_of=32)(picture(shape), return_tensors="np")["pixel_values"][0]
    # Transformers' default of 1/32 is a slip for 32: its own checkpoints state 32.
    ours = ZoeDepth(published.zoedepth(two_domains=False), {"ensure_multiple_of": 1 / 32}, "checkpoint", "here")
    # Torch rounds positions to single precision: a ten-thousandth of a pixel, on an image of noise.
    np.testing.assert_allclose(ours.prepare(picture(shape)), theirs, atol=5e-4)


def test_depth_pro_is_normalised_and_enlarged_without_antialiasing() -> None:
    image = picture((101, 67))
    batch = torch.from_numpy(image).permute(2, 0, 1)[None] / 127.5 - 1
    theirs = functional.interpolate(batch, size=(96, 96), mode="bilinear", align_corners=False)[0].numpy()
    ours = DepthPro(None, {"size": {"height": 96, "width": 96}}, "checkpoint", "here").prepare(image)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_the_original_rule_reads_as_opencv_does() -> None:
    image = picture((101, 67))
    family = DepthAnything(published.depth_anything("small"), {}, "original", "here")
    ours = family.prepare(image)
    batch = torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1)[None]
    theirs = functional.interpolate(batch, size=ours.shape[1:], mode="bicubic", align_corners=False)[0]
    theirs = (theirs - torch.tensor(ANYTHING.mean)[:, None, None]) / torch.tensor(ANYTHING.std)[:, None, None]
    assert ours.shape[1:] == covering_size((101, 67), ANYTHING)
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)
