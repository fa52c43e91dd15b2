"""What every registered foundation must do; those that read a file get one made for them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError, registry
from mrac.conventions import ImageArray
from mrac.foundation.base import Foundation
from mrac.foundation.dav2_small import GRAPH
from mrac.space import SPACES
from tests.onnx_file import Node, write_onnx
from tests.safetensors_file import write_random_weights

NEED_TORCH = ("hf", "marigold", "da3", "moge")
FOUNDATIONS = [
    pytest.param(name, marks=pytest.mark.lab) if name in NEED_TORCH else name for name in registry.names("foundation")
]


def write_network(path: Path, channels: int = 1, weights_file: str = "") -> None:
    """A network that gives the mean of the channels, or the channels themselves: enough to see every pixel's way."""
    weights = (
        np.full((1, 3, 1, 1), 1 / 3, np.float32) if channels == 1 else np.eye(3, dtype=np.float32)[..., None, None]
    )
    shape = (1, channels, 24, 32)
    node = Node("Conv", ["image", "w"], "depth")
    write_onnx(path, [node], {"image": (1, 3, 24, 32)}, {"depth": shape}, {"w": weights}, constants_file=weights_file)
    card = {"input_size": [24, 32], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "inverse_depth"}
    path.with_suffix(".json").write_text(json.dumps(card))


def _make_checkpoint(name: str, home: Path, patch: pytest.MonkeyPatch) -> None:
    from tests.networks import packages, toys  # noqa: PLC0415  (they import torch)

    if name != "hf":
        packages.install_fake(patch, name)
        packages.make_folder(home / name, name)
    elif not (home / name).exists():
        toys.save(toys.depth_anything(), home / name)


@pytest.fixture
def make_foundation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Foundation]:
    def make(name: str) -> Foundation:
        spec = name
        if name in NEED_TORCH:
            _make_checkpoint(name, tmp_path, monkeypatch)
            spec = f"{name}:{tmp_path / name}"
        if name == "precomputed":
            np.save(tmp_path / "field.npy", np.linspace(0, 1, 24 * 32).reshape(24, 32))
            spec = f"precomputed:{tmp_path / 'field.npy'}"
        if name == "onnx":
            write_network(tmp_path / "net.onnx")
            spec = f"onnx:{tmp_path / 'net.onnx'}"
        if name == "dav2_small":
            if not (tmp_path / "small.safetensors").exists():
                write_random_weights(GRAPH, tmp_path / "small.safetensors")
            spec = f"dav2_small:path={tmp_path / 'small.safetensors'},size=56"
        made = registry.create("foundation", spec)
        assert isinstance(made, Foundation)
        return made

    return make


def picture(H: int = 48, W: int = 64) -> ImageArray:
    v, u = np.mgrid[0:H, 0:W]
    return np.stack([u * 255 / W, v * 255 / H, u * 0], axis=2).astype(np.uint8)


@pytest.mark.parametrize("name", FOUNDATIONS)
def test_gives_a_field_of_the_image_s_size(name: str, make_foundation: Callable[[str], Foundation]) -> None:
    relative = make_foundation(name)(picture())
    if name == "none":
        assert relative is None
        return
    assert relative is not None
    assert relative.values.shape == (48, 64)
    assert relative.values.dtype == np.float32
    assert relative.space in SPACES
    again = make_foundation(name)(picture())
    assert again is not None
    np.testing.assert_array_equal(relative.values, again.values)


@pytest.mark.parametrize("name", ["precomputed", "onnx"])
def test_a_missing_file_is_one_clear_error(name: str) -> None:
    with pytest.raises(ContractError, match="nowhere"):
        registry.create("foundation", f"{name}:nowhere.npy")(picture())
