"""The scale-map learner back from an ONNX file of ours: the weights that ship, on a device that torch runs on."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.runtime.onnx_check import check_onnx
from mrac.vi_depth.network import ScaleMapLearner

# Published with the rest but never run (see `Decoder`), so that the exporter leaves it away.
_NEVER_RUN = "scratch.refinenet4.resConfUnit1."


def learner_from_onnx(path: Path) -> ScaleMapLearner:
    """The network that `export_learner` wrote to `path`, ready to predict: its weights as rounded there.

    The exporter has put each batch norm into the convolution before it; so it is here, and what normalised is empty.

    Raises:
        ContractError: the file is damaged, or is of another network.
        MissingExtra: `onnx` is not installed.
    """
    state = {name: torch.from_numpy(values) for name, values in _constants(path).items()}
    with torch.device("meta"):  # as in `checkpoint.load_learner`
        network = ScaleMapLearner()
    _without_norms(network)
    unused = [name for name in network.state_dict() if name.startswith(_NEVER_RUN)]
    network.to_empty(device="cpu")
    with torch.no_grad():
        for name in unused:
            state[name] = torch.zeros_like(network.state_dict()[name])
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise ContractError(f"vi_depth: {path} is not of the scale-map learner: {first_line(error)}") from None
    return network.eval()


def _without_norms(network: nn.Module) -> None:
    """Takes every batch norm away and gives the convolution before it a bias."""
    for module in list(network.modules()):
        before: nn.Module = module
        for name, child in list(module.named_children()):
            if isinstance(child, nn.BatchNorm2d):
                assert isinstance(before, nn.Conv2d)
                if before.bias is None:
                    before.bias = nn.Parameter(torch.empty(child.num_features, device="meta"))
                setattr(module, name, nn.Identity())
            before = child


def _constants(path: Path) -> dict[str, NDArray[np.float32]]:
    """Weight and bias of every convolution, by the names of a state dict."""
    try:
        import onnx  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"vi_depth: {path} by torch", "lab") from None
    check_onnx(path, "vi_depth")
    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # protobuf raises a class of its own
        raise ContractError(f"vi_depth: {path} is not a usable ONNX file: {first_line(error)}") from None
    known = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    found: dict[str, NDArray[np.float32]] = {}
    for node in graph.node:
        if node.op_type == "Conv":
            for name, kind in zip(node.input[1:], ("weight", "bias"), strict=False):
                found[f"{_module(node)}.{kind}"] = _value(known, name)
    return found


def _module(convolution: Any) -> str:
    """By its weight: the bias of one that had none is named after the weight."""
    return str(convolution.input[1]).removesuffix(".weight")


def _value(known: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """A constant, multiplied back where `export.onnx` has shortened it."""
    if name in known:
        return np.array(known[name], np.float32)  # a copy: onnx's own cannot be written to
    short, scale = (known.get(f"{name}.{part}") for part in ("short", "scale"))
    if short is None or scale is None:
        raise ContractError(f"vi_depth: the ONNX file has no weights {name!r}; one of `mrac train` is needed")
    return np.asarray(short.astype(np.float32) * scale, np.float32)
