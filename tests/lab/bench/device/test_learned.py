"""The learned heads by torch say what the calibrator says, whatever the scene, and whoever else is asked about."""

import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.errors import ContractError
from mrac.head.affine import Affine
from mrac.lab.bench.device import learned as learned_module
from mrac.lab.bench.device import on_device
from mrac.lab.bench.device.equal_batches import run_in_equal_batches
from mrac.runtime.weight_files import weights_path
from tests.lab.bench.device.conditions import TORCH_ON_CPU, assert_same, both_ways, drawn, made

METHODS = ("vanilla", "b_prime", "mrac", "mrac_b_prime", "ransac_residual", "raw_depth")


# Images of the last size are shrunk for the network.
@pytest.mark.parametrize(
    ("shape", "method"),
    [*product([(61, 83), (33, 7)], METHODS), *product([(281, 397)], ["mrac", "mrac_b_prime", "raw_depth"])],
)
def test_depth_is_the_calibrator_s(method: str, shape: tuple[int, int]) -> None:
    image, relative = made(shape)
    anchors = [drawn(relative, *numbers) for numbers in ((50, 0), (50, 15), (2, 0), (5, 1), (200, 80))]
    calibrator = Calibrator(method)
    results = both_ways(calibrator, image, relative, anchors)
    for one, other in results:
        assert_same(one, other)
    fitted = Calibrator(method, head=Affine())(image, anchors[0], relative)
    assert np.abs(np.log(results[0][1].depth_m / fitted.depth_m)).mean() > 0.005, "the network says nothing"


@pytest.mark.parametrize("method", ["mrac", "raw_depth"])
def test_where_there_is_nothing_to_correct_the_answer_is_the_calibrator_s_to_the_bit(method: str) -> None:
    image, relative = made((40, 56))
    flat = RelativeDepth(np.full((40, 56), 0.7, np.float32), "log_depth")
    none = Anchors(np.empty((0, 2)), np.empty(0))
    for field, anchors in ((relative, [none, drawn(relative, 1)]), (flat, [drawn(relative, 12)])):
        for one, other in both_ways(Calibrator(method), image, field, anchors):
            assert_same(one, other)
            assert one.status != "ok"
            if method == "mrac":
                np.testing.assert_array_equal(one.depth_m, other.depth_m)
    without = Calibrator(method, foundation="none")
    ((one, other),) = both_ways(without, image, None, [drawn(relative, 12)])
    assert_same(one, other)
    np.testing.assert_array_equal(one.depth_m, other.depth_m)


def test_holes_are_filled_alike() -> None:
    image, relative = made((40, 56))
    values = relative.values.copy()
    values[3:9, 10:20], values[30:] = np.nan, np.inf
    values.setflags(write=False)  # as one from the cache
    results = both_ways(Calibrator("mrac"), image, RelativeDepth(values, "log_depth"), [drawn(relative, 40, 5)])
    assert_same(*results[0])


def test_what_is_wrong_with_one_condition_is_no_other_s() -> None:
    image, relative = made((40, 56))
    outside = Anchors([[-5.0, 1.0]], [1.0])
    good = drawn(relative, 20)
    first, bad, last = on_device(Calibrator("mrac"), TORCH_ON_CPU).all_conditions(
        image, [good, outside, good], relative
    )
    assert isinstance(bad, ContractError)
    assert "none of the 1 is usable" in str(bad)
    np.testing.assert_array_equal(first.depth_m, last.depth_m)


def test_an_answer_does_not_depend_on_the_others_that_are_asked_for() -> None:
    image, relative = made((64, 80))
    anchors = [drawn(relative, 30, 6, seed) for seed in range(11)]  # more than a batch
    batched = on_device(Calibrator("mrac"), TORCH_ON_CPU)
    together = batched.all_conditions(image, anchors, relative)
    for place in (0, 7, 10):
        (alone,) = batched.all_conditions(image, [anchors[place]], relative)
        np.testing.assert_array_equal(alone.depth_m, together[place].depth_m)
        np.testing.assert_array_equal(alone.sigma_m, together[place].sigma_m)


def test_large_images_are_composed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    image, relative = made((48, 64))
    anchors = [drawn(relative, 30, 0, seed) for seed in range(5)]
    batched = on_device(Calibrator("vanilla"), TORCH_ON_CPU)
    at_once = batched.all_conditions(image, anchors, relative)
    monkeypatch.setattr(learned_module, "_NUM_PIXELS", 2 * 48 * 64 + 1)
    for one, other in zip(at_once, batched.all_conditions(image, anchors, relative), strict=True):
        np.testing.assert_array_equal(one.depth_m, other.depth_m)


def test_a_network_that_breaks_gives_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    image, relative = made((40, 56))
    good = run_in_equal_batches

    def broken(*given: object) -> object:
        maps = good(*given).clone()  # type: ignore[arg-type]
        maps[1, 0, 3, 3] = float("nan")
        return maps

    monkeypatch.setattr(learned_module, "run_in_equal_batches", broken)
    anchors = [drawn(relative, 20), drawn(relative, 20)]
    fine, fallen = on_device(Calibrator("vanilla"), TORCH_ON_CPU).all_conditions(image, anchors, relative)
    assert (fine.status, fallen.status) == ("ok", "affine_fallback")
    np.testing.assert_array_equal(
        fallen.depth_m, Calibrator("vanilla", head=Affine())(image, anchors[1], relative).depth_m
    )


def test_weights_of_one_s_own_need_both_files_of_one_training(tmp_path: Path) -> None:
    own = tmp_path / "own.onnx"
    shutil.copy(weights_path("vanilla", "test"), own)
    calibrator = Calibrator("vanilla", head=f"residual_unet:weights={own}")
    with pytest.raises(ContractError, match=r"own\.safetensors is needed beside .*--device cpu does without"):
        on_device(calibrator, TORCH_ON_CPU)
    image, relative = made((40, 56))
    shutil.copy(weights_path("raw_depth", "test").with_suffix(".safetensors"), own.with_suffix(".safetensors"))
    (result,) = on_device(calibrator, TORCH_ON_CPU).all_conditions(image, [drawn(relative, 20)], relative)
    assert isinstance(result, ContractError)
    assert "is not what own.onnx was written from" in str(result)
    shutil.copy(weights_path("vanilla", "test").with_suffix(".safetensors"), own.with_suffix(".safetensors"))
    assert_same(*both_ways(calibrator, image, relative, [drawn(relative, 20)])[0])
