"""Marigold, Depth Anything 3 and MoGe-2 on stand-ins for their packages: what goes in, what comes out, what is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import ContractError, MissingExtra, registry
from mrac.foundation.da3 import DepthAnything3
from mrac.foundation.marigold import Marigold
from mrac.foundation.moge import MoGe
from tests.networks import packages

NAMES = ("marigold", "da3", "moge")


def picture(H: int = 60, W: int = 81) -> np.ndarray[Any, np.dtype[np.uint8]]:
    v, u = np.mgrid[0:H, 0:W]
    return np.stack([u * 255 / W, v * 255 / H, u * 0], axis=2).astype(np.uint8)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    packages.install_fake(monkeypatch, request.param)
    return str(request.param)


@pytest.mark.parametrize("shape", [(32, 32), (61, 83), (33, 517), (519, 31), (1, 1)])
def test_every_shape(name: str, shape: tuple[int, int], tmp_path: Path) -> None:
    folder = packages.make_folder(tmp_path / name, name)
    relative = registry.create("foundation", f"{name}:{folder}")(picture(*shape))
    assert relative.values.shape == shape
    assert relative.values.dtype == np.float32
    assert relative.space == "depth"


def test_fifty_megapixels_reach_the_network_small(name: str, tmp_path: Path) -> None:
    folder = packages.make_folder(tmp_path / name, name)
    image = np.broadcast_to(np.arange(8192).astype(np.uint8)[None, :, None], (6144, 8192, 3))
    assert registry.create("foundation", f"{name}:{folder}")(image).values.shape == (6144, 8192)
    (call,) = packages.LOADED[-1].calls
    assert np.prod([side for side in call.get("size", call.get("shape")) if side != 3]) <= 2**20


def test_identity(name: str, tmp_path: Path) -> None:
    folder = packages.make_folder(tmp_path / name, name)
    foundation = registry.create("foundation", f"{name}:{folder}")
    before = foundation.identity
    assert before.startswith(f"{name}-1 ")
    (folder / "config.json").write_text("{ }")
    assert foundation.identity != before
    assert registry.create("foundation", f"{name}:nobody/nothing").identity is None


def test_absent_packages_are_named_with_the_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = {"marigold": "diffusers", "da3": "depth_anything_3", "moge": "moge"}[name]
    for module in (absent, "depth_anything_3.api", "moge.model.v2"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    folder = packages.make_folder(tmp_path / name, name)
    with pytest.raises((ContractError, MissingExtra), match="pip install") as caught:
        registry.create("foundation", f"{name}:{folder}")(picture())
    assert "\n" not in str(caught.value)
    if name == "marigold":
        assert "mrac-depth[diffusion]" in str(caught.value)


def test_without_any_extra_the_one_that_suffices_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    extra = "diffusion" if name == "marigold" else "torch"
    with pytest.raises(MissingExtra, match=rf"mrac-depth\[{extra}\]"):
        registry.create("foundation", f"{name}:nobody/nothing")(picture())


def test_weights_that_are_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="hf download nobody/nothing"):
        registry.create("foundation", f"{name}:nobody/nothing")(picture())
    with pytest.raises(ContractError, match="holds no"):
        registry.create("foundation", f"{name}:{tmp_path}")(picture())


def test_marigold_is_seeded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages.install_fake(monkeypatch, "marigold")
    folder = str(packages.make_folder(tmp_path, "marigold"))
    one, same, other = (Marigold(folder, seed=seed, device="cpu")(picture()).values for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    pipeline = packages.LOADED[-1]
    assert pipeline.options["use_safetensors"]
    assert pipeline.options["variant"] == "fp16"
    assert pipeline.bar == {"disable": True}
    assert pipeline.calls[0]["num_inference_steps"] is None
    np.testing.assert_allclose(one[5:-5, 5:-5], picture()[5:-5, 5:-5] @ (0.299, 0.587, 0.114) / 255, atol=0.05)
    with pytest.raises(ContractError, match="ensemble"):
        Marigold(folder, ensemble=0)


def test_the_sky_of_depth_anything_3_is_infinitely_far(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages.install_fake(monkeypatch, "da3")
    folder = str(packages.make_folder(tmp_path, "da3"))
    values = DepthAnything3(folder, device="cpu")(picture(80, 120)).values
    assert (values[:19] == np.inf).all()
    assert np.isfinite(values[21:]).all()
    monkeypatch.setattr(packages.FakeDepthAnything3, "with_sky", False)
    assert np.isfinite(DepthAnything3(folder, device="cpu")(picture(80, 120)).values).all()


def test_what_moge_masks_has_no_prediction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages.install_fake(monkeypatch, "moge")
    folder = str(packages.make_folder(tmp_path, "moge"))
    values = MoGe(folder, fov_x_deg=60, device="cpu")(picture(80, 120)).values
    assert np.isnan(values[:, :30]).all()
    assert np.isnan(values[-1, -1])
    assert np.isfinite(values[:-1, 30:]).all()
    np.testing.assert_allclose(values[:-1, 30:], 1 + picture(80, 120)[:-1, 30:].mean(axis=2) / 255, rtol=1e-5)
    (call,) = packages.LOADED[-1].calls
    assert call["fov_x"] == 60
    assert 0 <= call["low"] <= call["high"] <= 1
    assert not call["use_fp16"]
    MoGe(folder, device="cpu")(picture())
    assert packages.LOADED[-1].calls[-1]["fov_x"] is None
