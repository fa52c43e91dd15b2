"""The true architectures with random weights: their size, and our whole way through them against transformers' own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.dpt.image_processing_pil_dpt import DPTImageProcessorPil

from mrac.foundation import _depth_anything, _dpt
from mrac.foundation._catalog import CATALOG
from mrac.foundation._device import ComputeDevice
from mrac.foundation._network import move_to
from tests.networks import published

CONFIGS: dict[str, Callable[[], Any]] = {
    "dpt-large": published.dpt_large,
    "dpt-hybrid": published.dpt_hybrid,
    "dpt-beit-base-384": partial(published.dpt_beit, "base", 384),
    "dpt-beit-large-384": partial(published.dpt_beit, "large", 384),
    "dpt-beit-large-512": partial(published.dpt_beit, "large", 512),
    "dpt-swinv2-tiny-256": partial(published.dpt_swinv2, "tiny"),
    "dpt-swinv2-base-384": partial(published.dpt_swinv2, "base"),
    "dpt-swinv2-large-384": partial(published.dpt_swinv2, "large"),
    "zoedepth-nyu": partial(published.zoedepth, two_domains=False),
    "zoedepth-kitti": partial(published.zoedepth, two_domains=False),
    "zoedepth-nyu-kitti": partial(published.zoedepth, two_domains=True),
    "depth-pro": partial(published.depth_pro, field_of_view=False),
}
for _size in published.DINOV2:
    CONFIGS[f"dav1-{_size}"] = partial(published.depth_anything, _size, version=1)
    CONFIGS["dav2-small-torch" if _size == "small" else f"dav2-{_size}"] = partial(published.depth_anything, _size)
    CONFIGS[f"dav2-metric-indoor-{_size}"] = partial(published.depth_anything, _size, metric_m=20)
    CONFIGS[f"dav2-metric-outdoor-{_size}"] = partial(published.depth_anything, _size, metric_m=80)


def test_the_catalogue_is_covered() -> None:
    assert set(CONFIGS) == {name for name, entry in CATALOG.items() if entry.spec.startswith("hf:")}
    assert CATALOG["dav2-small"].parameters == CATALOG["dav2-small-torch"].parameters


@pytest.mark.parametrize("name", CONFIGS)
def test_the_catalogue_states_the_true_size(name: str) -> None:
    assert published.num_parameters(published.build(CONFIGS[name](), "meta")) == CATALOG[name].parameters


def test_depth_pro_s_view_head_is_a_third_of_it() -> None:
    network = published.build(published.depth_pro(field_of_view=True), "meta")
    assert published.num_parameters(network) == 951_991_330


@pytest.mark.parametrize(
    ("name", "num_parameters", "shapes"),
    [
        # Odd sizes, one of them an ordinary photograph's; the others are strips, which are cheap to run.
        ("dav2-small-torch", 24_785_089, [(241, 319), (33, 517)]),
        ("dav2-base", 97_470_785, [(151, 517), (519, 31)]),
        pytest.param("dav2-large", 335_315_649, [(101, 517), (519, 31)], marks=pytest.mark.memory(4)),
        pytest.param("dpt-large", 343_030_465, [(241, 319)], marks=pytest.mark.memory(4)),
        ("dav2-metric-indoor-small", 24_785_089, [(241, 319), (33, 517)]),
    ],
)
def test_equals_transformers_from_end_to_end(
    name: str, num_parameters: int, shapes: list[tuple[int, int]], record_property: Callable[[str, object], None]
) -> None:
    torch.manual_seed(0)
    config = CONFIGS[name]()
    model = published.lively(published.build(config))
    assert published.num_parameters(model) == num_parameters
    if name == "dpt-large":
        processor = DPTImageProcessorPil()
        family: Any = _dpt.FAMILY(config, {}, "checkpoint", "here")
    else:
        processor = DPTImageProcessorPil(
            size={"height": 518, "width": 518},
            keep_aspect_ratio=True,
            ensure_multiple_of=14,
            image_mean=[0.485, 0.456, 0.406],
            image_std=[0.229, 0.224, 0.225],
        )
        family = _depth_anything.FAMILY(config, {}, "checkpoint", "here")
    network = move_to(ComputeDevice("cpu", "float32"), model, family)
    for shape in shapes:
        image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
        with torch.inference_mode():
            outputs = model(**processor(image, return_tensors="pt"))
        theirs = processor.post_process_depth_estimation(outputs, target_sizes=[shape])[0]["predicted_depth"].numpy()
        ours = network(image).values
        possible = theirs > 0  # elsewhere their bicubic enlargement has overshot; ours says 0, or enlarges linearly
        span = float(np.ptp(theirs))
        worst = float(np.abs(ours - theirs)[possible].max()) / span
        record_property(f"worst_{shape[0]}x{shape[1]}", worst)
        print(name, shape, f"range {theirs.min():.3g} to {theirs.max():.3g}, worst difference {worst:.2g} of it")
        assert span > 0.01 * float(np.abs(theirs).max())
        assert possible.mean() > 0.2
        assert worst < 1e-4
        assert (ours[~possible] == 0).all() or family.metric
