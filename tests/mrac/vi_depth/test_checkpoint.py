"""The published layout, made here: the weights themselves cannot be had everywhere."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from mrac import ContractError
from mrac.vi_depth.alignment import align, readings_on_pixels
from mrac.vi_depth.checkpoint import load_learner, read_about
from mrac.vi_depth.network import ScaleMapLearner, predict_scale
from mrac.vi_depth.predictors import BUDGETS, PREDICTORS, predictor
from mrac.vi_depth.ranges import VOID, Ranges
from mrac.vi_depth.refinement import refine
from mrac.vi_depth.resize import learner_shape, resize_cubic
from mrac.vi_depth.scale_map import scale_map
from tests.networks.learners import hollow_state, lightning, random_state

OUTDOOR = Ranges(max_depth_m=80.0, max_pred_m=80.0)


@pytest.fixture(scope="module")
def state() -> dict[str, Tensor]:
    return random_state()


@pytest.fixture(scope="module")
def official(state: dict[str, Tensor], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("vi_depth") / predictor("dpt_hybrid").learner_file(150)
    torch.save(lightning(state), path)
    yield path
    path.unlink()  # 85 MB, and pytest keeps folders


@pytest.fixture(scope="module")
def learner(official: Path) -> ScaleMapLearner:
    return load_learner(official)


def test_every_number_arrives_and_none_is_drawn(official: Path, state: dict[str, Tensor]) -> None:
    before = torch.get_rng_state()
    loaded = load_learner(official)
    assert torch.equal(torch.get_rng_state(), before)
    assert not loaded.training
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, state[name]), name


def scene(shape: tuple[int, int], num: int, ranges: Ranges, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v, u = np.mgrid[0 : shape[0], 0 : shape[1]]
    relative = (8.0 + 5.0 * np.sin(u / 40) + 3.0 * np.cos(v / 25)).astype(np.float32)
    uv_px = rng.uniform(-0.5, np.array(shape[::-1]) - 0.5, (num, 2))
    return relative, uv_px, rng.uniform(ranges.min_depth_m, ranges.max_depth_m, num)


@pytest.mark.parametrize(
    ("shape", "ranges"),
    [((101, 203), VOID), ((203, 101), OUTDOOR), ((33, 31), VOID), ((375, 1242), OUTDOOR), ((5, 181), VOID)],
)
def test_runs_from_readings_to_depth_at_odd_sizes(
    learner: ScaleMapLearner, shape: tuple[int, int], ranges: Ranges
) -> None:
    relative, uv_px, z_m = scene(shape, 150, ranges)
    readings = readings_on_pixels(uv_px, z_m, shape, ranges)
    aligned = align(relative, readings, ranges)
    scales = scale_map(aligned.inv_z_per_m, readings)
    assert (aligned.status, scales.status) == ("ok", "ok")
    assert scales.unit is not None
    statistics = predictor("dpt_hybrid").standardisation(150)
    inv_z = refine(aligned.inv_z_per_m, scales.unit, statistics, ranges, partial(predict_scale, learner))
    depth_m = ranges.depth_m(inv_z)
    assert depth_m.shape == shape
    assert depth_m.dtype == np.float32
    assert np.isfinite(depth_m).all()
    assert depth_m.min() >= ranges.min_pred_m * (1 - 1e-6)
    assert depth_m.max() <= ranges.max_pred_m * (1 + 1e-6)
    assert np.ptp(depth_m) > 0


def test_the_refinement_is_torch_s_own_arithmetic(learner: ScaleMapLearner) -> None:
    """Steps 13 to 17 of the published pipeline, written out in torch."""
    shape = (101, 203)
    rng = np.random.default_rng(0)
    aligned, unit = rng.uniform(0.125, 3.0, shape).astype(np.float32), rng.uniform(0, 1, shape).astype(np.float32)
    s = predictor("midas_small").standardisation(500)
    got = refine(aligned, unit, s, VOID, partial(predict_scale, learner))
    maps = torch.from_numpy(np.stack([aligned, unit]))[:, None]
    small = torch.nn.functional.interpolate(maps, learner_shape(shape), mode="bicubic", align_corners=False)
    x = torch.cat([(small[0] - s.inv_z_mean_per_m) / s.inv_z_std_per_m, (small[1] - s.scale_mean) / s.scale_std])[None]
    with torch.no_grad():
        inv_z = (small[:1] * learner(x)).clamp(1 / 8.0, 1 / 0.1)
        expected = torch.nn.functional.interpolate(inv_z, shape, mode="bicubic", align_corners=False)[0, 0]
    np.testing.assert_allclose(got, expected.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_learner_that_trusts_the_alignment_gives_it_back(name: str, budget: int) -> None:
    """The network reads standardised maps but multiplies the plain one, whichever predictor and budget it is for."""
    aligned = np.linspace(0.2, 2.0, 60 * 80, dtype=np.float32).reshape(60, 80)
    unit = np.zeros_like(aligned)
    seen = []

    def trusting(x: Any) -> Any:
        seen.append(x)
        return np.ones_like(x[:, :1])

    got = refine(aligned, unit, predictor(name).standardisation(budget), VOID, trusting)
    small = resize_cubic(aligned, learner_shape((60, 80)))
    np.testing.assert_allclose(got, resize_cubic(small, (60, 80)), rtol=1e-6)
    s = predictor(name).standardisation(budget)
    np.testing.assert_allclose(seen[0][0, 0] * s.inv_z_std_per_m + s.inv_z_mean_per_m, small, atol=1e-6)
    np.testing.assert_allclose(seen[0][0, 1], -s.scale_mean / s.scale_std, rtol=1e-6)


def test_weights_that_overflow_are_named() -> None:
    maps = np.ones((40, 40), np.float32)
    with pytest.raises(ContractError, match="not finite"):
        refine(maps, maps, predictor("dpt_large").standardisation(150), VOID, lambda x: x[:, :1] * np.nan)


@pytest.mark.parametrize("layout", ["lightning", "optimizer", "plain"])
def test_takes_all_three_layouts(layout: str, tmp_path: Path) -> None:
    state = hollow_state()
    content = {"lightning": lightning(state), "optimizer": {"optimizer": {}, "model": state}, "plain": state}[layout]
    torch.save(content, tmp_path / "sml.ckpt")
    assert load_learner(tmp_path / "sml.ckpt").state_dict().keys() == state.keys()


def refused(content: Any, path: Path) -> str:
    torch.save(content, path)
    with pytest.raises(ContractError) as caught:
        load_learner(path)
    message = str(caught.value)
    assert message.startswith(f"vi_depth: {path} ")
    assert "\n" not in message
    return message


def test_a_missing_entry_is_named(tmp_path: Path) -> None:
    state = hollow_state()
    del state["pretrained.layer3.1.4.bn2.running_var"]
    message = refused(lightning(state), tmp_path / "sml.ckpt")
    assert "'pretrained.layer3.1.4.bn2.running_var' is missing (of 489 entries 1 missing, 0 of another" in message
    assert "; 0 extra)" in message


def test_an_extra_entry_is_named(tmp_path: Path) -> None:
    message = refused(lightning({**hollow_state(), "scratch.bonus.bias": torch.ones(3)}), tmp_path / "sml.ckpt")
    assert "'scratch.bonus.bias' is not part of it (of 489 entries 0 missing, 0 of another" in message
    assert "; 1 extra)" in message


@pytest.mark.parametrize(
    ("value", "arrived"),
    [
        (torch.zeros(3, 3, 3, 3), "float32 of shape (3, 3, 3, 3)"),
        (torch.zeros(3, 2, 3, 3, dtype=torch.int64), "int64 of shape (3, 2, 3, 3)"),
        (torch.zeros(3, 2, 3, 3).to_sparse(), "float32 of shape (3, 2, 3, 3)"),
        (1.5, "float"),
    ],
)
def test_an_entry_of_another_shape_or_kind_is_named(value: object, arrived: str, tmp_path: Path) -> None:
    message = refused(lightning({**hollow_state(), "first.0.weight": value}), tmp_path / "sml.ckpt")
    assert f"'first.0.weight' is {arrived} where float32 of shape (3, 2, 3, 3) is needed (of 489 " in message
    assert "0 missing, 1 of another shape or kind; 0 extra)" in message


def test_all_differences_are_counted(tmp_path: Path) -> None:
    state = hollow_state()
    renamed = {name.replace("scratch.", "decoder."): value for name, value in state.items()}
    num = sum(name.startswith("scratch.") for name in state)
    message = refused(lightning(renamed), tmp_path / "sml.ckpt")
    assert f"'scratch.layer1_rn.weight' is missing (of 489 entries {num} missing, 0 of" in message
    assert f"; {num} extra)" in message


def test_numbers_that_are_not_finite_are_named(tmp_path: Path) -> None:
    state = {**hollow_state(), "first.0.bias": torch.tensor([0.0, torch.nan, 0.0])}
    torch.save(lightning(state), tmp_path / "sml.ckpt")
    with pytest.raises(ContractError, match=r"'first.0.bias' holds values that are not finite \(1 entries do\)"):
        load_learner(tmp_path / "sml.ckpt")


@pytest.mark.parametrize("content", [{}, [], 3, {"state_dict": {}}, {"state_dict": 3}, {"optimizer": 1}, {3: 4}])
def test_another_content_is_refused(content: object, tmp_path: Path) -> None:
    refused(content, tmp_path / "sml.ckpt")


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.proof),)


@pytest.mark.parametrize("writer", ["torch", "pickle"])
def test_what_needs_unpickling_is_refused_and_does_not_run(writer: str, tmp_path: Path) -> None:
    proof, path = tmp_path / "it_ran", tmp_path / "sml.ckpt"
    content = {**lightning(hollow_state() if writer == "torch" else {}), "callbacks": Payload(proof)}
    if writer == "torch":
        torch.save(content, path)
    else:
        path.write_bytes(pickle.dumps(Payload(proof)))
    with pytest.raises(ContractError, match="may run code when read"):
        load_learner(path)
    assert not proof.exists()


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"none.ckpt cannot be read \(No such file"):
        load_learner(tmp_path / "none.ckpt")
    for size in (0, 10, 1000):
        (tmp_path / "noise.ckpt").write_bytes(np.random.default_rng(size).bytes(size))
        with pytest.raises(ContractError, match=r"noise.ckpt is "):
            load_learner(tmp_path / "noise.ckpt")
    torch.save(lightning(hollow_state()), tmp_path / "cut.ckpt")
    (tmp_path / "cut.ckpt").write_bytes((tmp_path / "cut.ckpt").read_bytes()[:-5000])
    with pytest.raises(ContractError, match=r"cut.ckpt is "):
        load_learner(tmp_path / "cut.ckpt")


def test_all_but_the_network_and_its_files_work_without_torch() -> None:
    modules = "alignment, description, learner, predictors, ranges, refinement, resize, scale_map"
    code = f"import sys; import mrac; from mrac.vi_depth import {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_safetensors_of_our_own_loads_with_its_words(state: dict[str, Tensor], tmp_path: Path) -> None:
    path = tmp_path / "sml.safetensors"
    save_file(state, path, {"mrac.kind": "sml"})
    loaded = load_learner(path)
    assert not loaded.training
    assert all(torch.equal(value, state[name]) for name, value in loaded.state_dict().items())
    assert read_about(path) == {"mrac.kind": "sml"}
    path.unlink()  # 85 MB, and pytest keeps folders


def test_what_is_wrong_with_a_safetensors_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sml.safetensors"
    with pytest.raises(ContractError, match=r"sml.safetensors cannot be read \("):
        load_learner(path)
    path.write_bytes(b"no such thing")
    with pytest.raises(ContractError, match=r"sml.safetensors cannot be read \("):
        read_about(path)
    save_file({"first.0.bias": torch.zeros(3), "bonus": torch.zeros(3)}, path)
    with pytest.raises(ContractError, match=r"is missing \(of 489 entries 488 missing, 0 of another .* 1 extra\)"):
        load_learner(path)
    assert read_about(path) == {}
