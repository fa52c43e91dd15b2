"""The embedded network in torch with the weights of the package's ONNX file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.gpu.network import Convolution, DepthNetwork, NetworkOptions
from mrac.runtime.onnx_check import check_onnx

_WHERE = "gpu"

Network = TypeVar("Network", bound=nn.Module)


def network_from_onnx(path: Path, options: NetworkOptions | None = None) -> DepthNetwork:
    """The network of `mrac train foundation` in the ONNX file `path`, ready to predict.

    Args:
        path: of the file.
        options: of the network in it; None for the one that ships.

    Raises:
        ContractError: the file is missing, damaged, or of another network.
        MissingExtra: `onnx` is not installed.
    """
    return filled(lambda: DepthNetwork(options or NetworkOptions()), weights_of(path), path)


def weights_of(path: Path) -> dict[str, Tensor]:
    """Weights and biases in an ONNX file of `mrac train foundation` or `student`, by the names that they have in torch.

    Raises:
        ContractError: the file is missing or damaged, or a weight cannot be found.
        MissingExtra: `onnx` is not installed.
    """
    return {name: torch.from_numpy(values) for name, values in _state(_graph(path)).items()}


def filled(make: Callable[[], Network], weights: dict[str, Tensor], path: Path) -> Network:
    """A network with the weights of `path`, ready to predict.

    The exporter has put each batch norm into the convolution before it; so it is here, and what normalised is empty.

    Raises:
        ContractError: the weights are those of another network.
    """
    with torch.device("meta"):
        network = make()
        for module in network.modules():
            if isinstance(module, Convolution):
                module.norm = nn.Identity()  # type: ignore[assignment]
                module.conv.bias = nn.Parameter(torch.empty(module.conv.out_channels))
    try:
        network.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        raise ContractError(f"{_WHERE}: {path} does not hold this network's weights: {first_line(error)}") from None
    return network.eval().requires_grad_(False)


def _graph(path: Path) -> Any:
    try:
        import onnx  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"{_WHERE}: reading {path.name}", "torch") from None
    check_onnx(path, _WHERE)
    try:
        return onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # protobuf raises a class of its own
        raise ContractError(f"{_WHERE}: {path} is not a usable ONNX file: {first_line(error)}") from None


def _state(graph: Any) -> dict[str, NDArray[np.float32]]:
    """Weights and biases by the names of a state dict."""
    from onnx import numpy_helper  # noqa: PLC0415

    known = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    # The exporter keeps the names of all but the matrices of linear layers, which it has transposed: those are found by
    # the name of the bias that is added to their product.
    bias_after = {
        tensor: name
        for node in graph.node
        if node.op_type == "Add"
        for tensor, name in (node.input, node.input[::-1])
        if name.endswith(".bias")
    }
    found = {name: _value(known, name) for name in known if name.endswith((".weight", ".bias"))}
    for node in graph.node:
        # Of the output layer, which the exporter has split, the parts have other names.
        if node.op_type == "Conv" and node.input[1].endswith(".weight"):
            layer = str(node.input[1]).removesuffix(".weight")
            for name, kind in zip(node.input[1:], ("weight", "bias"), strict=False):
                found[f"{layer}.{kind}"] = _value(known, name)
            # The exporter leaves out a bias of zeros, as a layer has that adds nothing yet.
            found.setdefault(f"{layer}.bias", np.zeros(len(found[f"{layer}.weight"]), np.float32))
        elif node.op_type == "MatMul" and node.output[0] in bias_after:
            layer = bias_after[node.output[0]].removesuffix(".bias")
            matrix = next((name for name in node.input if name in known or f"{name}.short" in known), f"{layer}.weight")
            found[f"{layer}.weight"] = np.ascontiguousarray(_value(known, matrix).T)
    return found


def _value(known: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """A constant, multiplied back where the exporter has shortened it; a copy, since onnx's own is read-only."""
    if name in known:
        return np.array(known[name], np.float32)
    short, scale = (known.get(f"{name}.{part}") for part in ("short", "scale"))
    if short is None or scale is None:
        raise ContractError(
            f"{_WHERE}: the ONNX file has no weights {name!r}; one of `mrac train foundation` or `student` is needed"
        )
    return np.asarray(short.astype(np.float32) * scale, np.float32)
