"""A graph without weights, and weights of the same names in another file."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.runtime import onnx_session
from mrac.runtime.onnx_session import graph_identity, network_identity, run_network
from mrac.runtime.onnx_weights import external_tensors
from tests.onnx_file import Node, write_onnx
from tests.safetensors_file import write_safetensors

ONE = np.ones((1, 2), np.float32)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The input times `w`; the file that it names as the place of `w` is gone."""
    path = tmp_path / "graph.onnx"
    shape = {"x": (1, 2)}
    w = {"w": np.zeros((1, 2), np.float32)}
    write_onnx(path, [Node("Mul", ["x", "w"], "out")], shape, {"out": (1, 2)}, w, constants_file="weights.bin")
    (tmp_path / "weights.bin").unlink()
    return path


def test_the_weights_come_from_the_other_file(graph: Path, tmp_path: Path) -> None:
    assert external_tensors(graph.read_bytes()) == {"w": (1, 2)}
    weights = tmp_path / "w.safetensors"
    unused = np.zeros(3, np.float32)
    write_safetensors(weights, {"unused": unused, "w": np.array([[2, 3]], np.float32)})
    assert run_network(graph, ONE, "x", weights=weights).tolist() == [[2.0, 3.0]]
    write_safetensors(tmp_path / "other.safetensors", {"w": np.array([[5, 7]], np.float32)})
    assert run_network(graph, ONE, "x", weights=tmp_path / "other.safetensors").tolist() == [[5.0, 7.0]]
    assert run_network(graph, ONE, "x", weights=weights).tolist() == [[2.0, 3.0]]


def test_the_weights_live_as_long_as_the_network(graph: Path, tmp_path: Path) -> None:
    weights = tmp_path / "w.safetensors"
    write_safetensors(weights, {"w": np.array([[2, 3]], np.float32)})
    run_network(graph, ONE, "x", weights=weights)
    session = onnx_session._session(graph, "x", weights)
    assert [value.numpy().tolist() for value in session.mrac_weights] == [[[2.0, 3.0]]]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"v": ONE}, "has no tensor w; it is another network's file"),
        ({"w": np.ones((2, 2), np.float32)}, r"float32 of shape \(2, 2\); float32 of \(1, 2\) is needed"),
        ({"w": np.ones((1, 2), np.float16)}, "w is float16"),
    ],
)
def test_weights_that_do_not_fit_are_named(
    arrays: dict[str, np.ndarray], says: str, graph: Path, tmp_path: Path
) -> None:
    write_safetensors(tmp_path / "w.safetensors", arrays)
    with pytest.raises(ContractError, match=says) as caught:
        run_network(graph, ONE, "head/x", weights=tmp_path / "w.safetensors")
    assert str(caught.value).startswith("head/x: ")


def test_only_what_is_elsewhere_is_external(tmp_path: Path) -> None:
    path = tmp_path / "whole.onnx"
    shape = {"x": (1, 2)}
    write_onnx(path, [Node("Mul", ["x", "w"], "out")], shape, {"out": (1, 2)}, {"w": ONE})
    assert external_tensors(path.read_bytes()) == {}


def test_the_identity_of_a_graph_names_the_runtime_whatever_its_package_is_called(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_session, "runtime_version", lambda: "onnxruntime-gpu 1.31.1")
    digest = hashlib.sha256(graph.read_bytes()).hexdigest()
    assert graph_identity(graph) == f"onnxruntime-gpu 1.31.1, {digest}"
    monkeypatch.setattr(onnx_session, "_device_name", lambda: "cuda")
    assert graph_identity(graph) == f"onnxruntime-gpu 1.31.1, {digest}, cuda"
    assert network_identity(graph) is None, "its weights may change while it does not"
