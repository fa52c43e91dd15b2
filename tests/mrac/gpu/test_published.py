"""Networks read back from ONNX files: ours, and files that are none."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from mrac.errors import ContractError  # noqa: E402
from mrac.foundation.embedded import NETWORK  # noqa: E402
from mrac.gpu.network import DepthNetwork  # noqa: E402
from mrac.gpu.published import network_from_onnx  # noqa: E402


def test_the_embedded_network_is_read_back() -> None:
    assert isinstance(network_from_onnx(NETWORK), DepthNetwork)


def test_a_file_of_other_operators_is_refused_by_name(tmp_path: Path) -> None:
    """A product of two inputs, to which what is called a bias is added: no matrix of a layer is there."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [helper.make_node("MatMul", ["a", "b"], ["product"]), helper.make_node("Add", ["product", "x.bias"], ["y"])]
    ends = [helper.make_tensor_value_info(name, kind, [2, 2]) for name in "aby"]
    bias = helper.make_tensor("x.bias", kind, [2], [0.0, 0.0])
    graph = helper.make_graph(nodes, "other", ends[:2], ends[2:], [bias])
    path = tmp_path / "other.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    with pytest.raises(ContractError, match=r"no weights 'x\.weight'; one of `mrac train foundation` or `student`"):
        network_from_onnx(path)
