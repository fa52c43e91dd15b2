"""The embedded network as ONNX Runtime computes it in 8 bits, in torch and with gradients."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mrac.errors import ContractError
from mrac.gpu.network import Attention, Convolution, DepthNetwork, InvertedResidual
from mrac.lab.train.published import trained_network
from mrac.lab.train.quantized.graph import Grid, Layer, QuantizedGraph
from mrac.lab.train.quantized.rounding import FILTER_STEPS, WEIGHT_STEPS, Rounding, whole_steps
from mrac.lab.train.small_network import MapAttention, SmallNetwork

_WHERE = "train/quantize"


class QuantizedConvolution(nn.Module):
    """A convolution with weights and output on 8-bit grids; its input is on one already.

    Weights and bias are kept in steps of the grids that they start with, so that one learning rate suits all layers.
    A ReLU needs no step of its own: the output's grid ends where it cuts.
    """

    unit: Tensor
    bias_unit: Tensor

    def __init__(
        self, layer: Layer, weight: Tensor, like: nn.Conv2d, border: tuple[int, ...] | None, out: Rounding
    ) -> None:
        super().__init__()
        self.border, self.out = border, out
        self.stride, self.padding, self.groups = like.stride, like.padding, like.groups
        self.most = FILTER_STEPS if like.groups > 1 else WEIGHT_STEPS
        scale = weight.abs().amax(dim=(1, 2, 3), keepdim=True).clamp(min=1e-12) / self.most
        self.steps = nn.Parameter(weight / scale)
        self.log_gain = nn.Parameter(torch.zeros(len(weight)))
        self.shift = nn.Parameter(torch.zeros(len(weight)))
        self.register_buffer("unit", scale, persistent=False)
        self.register_buffer("bias", torch.from_numpy(layer.bias), persistent=False)
        self.register_buffer("bias_unit", torch.tensor(out.grid[0]), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        if self.border is not None:
            x = functional.pad(x, self.border)
        weight = whole_steps(self.steps, self.most) * (self.unit * self.log_gain.exp().view(-1, 1, 1, 1))
        y = functional.conv2d(x, weight, self.offset, self.stride, self.padding, 1, self.groups)
        rounded: Tensor = self.out(y)
        return rounded

    @property
    def offset(self) -> Tensor:
        """(outputs,): the bias."""
        return self.bias + self.bias_unit * self.shift  # type: ignore[operator]

    def numbers(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.float32]]:
        """Whole weights, their scales (outputs,), the bias (outputs,)."""
        whole = self.steps.detach().round().clamp(-self.most, self.most).to(torch.int8)
        scale = self.unit.flatten() * self.log_gain.detach().exp()
        return whole.numpy(), scale.numpy(), self.offset.detach().numpy()


class _RoundInput:
    """A hook that rounds what enters a module; an object, not a function, so that a copied network has its own."""

    def __init__(self, rounding: Rounding) -> None:
        self.rounding = rounding

    def __call__(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (self.rounding(inputs[0]), *inputs[1:])


class QuantizedNetwork(nn.Module):
    """A `DepthNetwork` or `SmallNetwork` with the 8-bit grids of a graph.

    Only weights, biases and grids of 8-bit convolutions learn.

    Args:
        network: file in single precision.
        graph: of the same network, calibrated.

    Raises:
        ContractError: the file is not a network of `mrac train foundation` or `student`, or not the graph's.
    """

    def __init__(self, network: Path, graph: QuantizedGraph) -> None:
        super().__init__()
        self.roundings = {name: Rounding(grid.scale, grid.zero) for name, grid in graph.grids().items()}
        self.of_tensors = nn.ModuleList(self.roundings.values())
        self.layers: dict[str, QuantizedConvolution] = {}
        self.body: DepthNetwork | SmallNetwork = trained_network(network)
        entered = _entered_by(self.body)
        for layer in graph.layers():
            self._replace(layer, entered)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) RGB in [0, 255] to (B, 1, H / 2, W / 2) log depth."""
        depth: Tensor = self.body(image.contiguous(memory_format=torch.channels_last))
        return depth

    def learned(self) -> dict[str, nn.Parameter]:
        """What the optimiser changes, by name."""
        return {name: parameter for name, parameter in self.named_parameters() if parameter.requires_grad}

    def grids(self) -> dict[str, Grid]:
        """As `QuantizedGraph.write` takes them."""
        return {name: Grid(*rounding.grid) for name, rounding in self.roundings.items()}

    def weights(self) -> Mapping[str, tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.float32]]]:
        """As `QuantizedGraph.write` takes them."""
        return {name: layer.numbers() for name, layer in self.layers.items()}

    def _replace(self, layer: Layer, entered: Mapping[str, nn.Module]) -> None:
        try:
            conv = self.body.get_submodule(layer.name)
        except AttributeError:
            raise ContractError(f"{_WHERE}: the 8-bit graph has a layer {layer.name}, the network has none") from None
        path = layer.name.removesuffix(".conv")
        whole = self.body.get_submodule(path)
        border = whole.border if isinstance(whole, Convolution) else None
        assert isinstance(conv, nn.Conv2d)
        new = QuantizedConvolution(layer, conv.weight.detach(), conv, border, self.roundings[layer.outputs])
        if not layer.from_layer:
            # The block's own input, so that its residual sum adds what the convolution reads, as the graph does.
            entered.get(path, new).register_forward_pre_hook(_RoundInput(self.roundings[layer.inputs]))
        self.body.set_submodule(path, new)
        self.layers[layer.name] = new


def _entered_by(network: nn.Module) -> dict[str, nn.Module]:
    """Blocks whose input is also added to their output, by the path of the convolution that reads it first."""
    blocks: dict[str, nn.Module] = {}
    for path, module in network.named_modules():
        if isinstance(module, InvertedResidual):
            blocks[f"{path}.{'expand' if isinstance(module.expand, Convolution) else 'filter'}"] = module
        elif isinstance(module, Attention | MapAttention):
            blocks[f"{path}.position"] = module
    return blocks
