"""What every registered foundation must do; those that read a file get one made for them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mrac import ContractError, registry
from mrac.conventions import ImageArray
from mrac.foundation.base import Foundation
from mrac.space import SPACES
from tests.networks import packages, toys

FOUNDATIONS = registry.names("foundation")


def write_network(path: Path, channels: int = 1) -> None:
    """A network that gives the mean of the channels, or the channels themselves: enough to see every pixel's way."""
    weights = (
        np.full((1, 3, 1, 1), 1 / 3, np.float32) if channels == 1 else np.eye(3, dtype=np.float32)[..., None, None]
    )
    graph = helper.make_graph(
        [helper.make_node("Conv", ["image", "w"], ["depth"])],
        "mean",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 24, 32])],
        [helper.make_tensor_value_info("depth", TensorProto.FLOAT, [1, channels, 24, 32])],
        [helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.ravel().tolist())],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(path))
    card = {"input_size": [24, 32], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "inverse_depth"}
    path.with_suffix(".json").write_text(json.dumps(card))


@pytest.fixture
def make_foundation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Foundation]:
    def make(name: str) -> Foundation:
        spec = name
        if name == "hf" and not (tmp_path / "hf").exists():
            toys.save(toys.depth_anything(), tmp_path / "hf")
        if name in ("marigold", "da3", "moge"):
            packages.install_fake(monkeypatch, name)
            packages.make_folder(tmp_path / name, name)
        if name in ("hf", "marigold", "da3", "moge"):
            spec = f"{name}:{tmp_path / name}"
        if name == "precomputed":
            np.save(tmp_path / "field.npy", np.linspace(0, 1, 24 * 32).reshape(24, 32))
            spec = f"precomputed:{tmp_path / 'field.npy'}"
        if name == "onnx":
            write_network(tmp_path / "net.onnx")
            spec = f"onnx:{tmp_path / 'net.onnx'}"
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
