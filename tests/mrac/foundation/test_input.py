"""Our way from an image to a network's input, against transformers' own processors."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers.models.dpt.image_processing_pil_dpt import DPTImageProcessorPil
from transformers.models.zoedepth.image_processing_pil_zoedepth import ZoeDepthImageProcessorPil

from mrac import ContractError
from mrac.foundation._depth_anything import DepthAnything
from mrac.foundation._depth_pro import DepthPro
from mrac.foundation._dpt import Dpt
from mrac.foundation._input import MAX_PIXELS, Settings, covering_size, nearest_size
from mrac.foundation._zoedepth import ZoeDepth
from tests.networks import published

SHAPES = [(480, 640), (240, 320), (375, 1242), (101, 67), (33, 517), (519, 31), (768, 1025), (32, 32), (1080, 1921)]
ANYTHING = Settings((518, 518), True, 14, 3, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


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


@pytest.mark.parametrize(
    ("shape", "transformers", "original"),
    [
        ((480, 640), (518, 686), (518, 686)),
        ((240, 320), (392, 518), (518, 686)),
        ((192, 256), (392, 518), (518, 686)),
        ((375, 1242), (518, 1722), (518, 1722)),
        ((1080, 1920), (518, 924), (518, 924)),
        ((272, 1036), (140, 518), (518, 1974)),
        ((20, 2000), (14, 518), None),
    ],
)
def test_the_two_rules_differ_where_they_are_known_to(
    shape: tuple[int, int], transformers: tuple[int, int], original: tuple[int, int] | None
) -> None:
    assert nearest_size(shape, ANYTHING) == transformers
    if original is not None:
        assert covering_size(shape, ANYTHING) == original


@pytest.mark.parametrize("shape", [(500, 100_000), (100_000, 500), (1, 50_000), (7071, 7071), (1, 1), (2_000_000, 25)])
@pytest.mark.parametrize("rule", [nearest_size, covering_size])
def test_no_image_makes_a_huge_input(shape: tuple[int, int], rule: Any) -> None:
    height, width = rule(shape, ANYTHING)
    assert height % 14 == width % 14 == 0
    assert min(height, width) >= 14
    assert height * width <= MAX_PIXELS


def test_the_original_rule_reads_as_opencv_does() -> None:
    image = picture((101, 67))
    family = DepthAnything(published.depth_anything("small"), {}, "original", "here")
    ours = family.prepare(image)
    batch = torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1)[None]
    theirs = functional.interpolate(batch, size=ours.shape[1:], mode="bicubic", align_corners=False)[0]
    theirs = (theirs - torch.tensor(ANYTHING.mean)[:, None, None]) / torch.tensor(ANYTHING.std)[:, None, None]
    assert ours.shape[1:] == covering_size((101, 67), ANYTHING)
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"do_normalize": False}, "do_normalize"),
        ({"size": {"shortest_edge": 384}}, "size"),
        ({"size": {"height": 0, "width": 3}}, "> 0"),
        ({"image_std": [1, 0, 1]}, "> 0"),
        ({"image_mean": "grey"}, "image_mean"),
        ({"resample": 9}, "filters"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(stated: dict[str, Any], says: str) -> None:
    with pytest.raises(ContractError, match=says):
        ANYTHING.override(stated, "here")


def test_settings_as_old_checkpoints_write_them() -> None:
    changed = ANYTHING.override({"size": 384, "image_mean": 0.5, "ensure_multiple_of": None}, "here")
    assert changed.size == (384, 384)
    assert changed.mean == (0.5, 0.5, 0.5)
    assert changed.multiple == 14
