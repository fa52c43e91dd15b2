"""The 8-bit convolutions of an ONNX graph: where their numbers are, read and written in place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError

_WHERE = "train/quantize"


@dataclass(frozen=True)
class Grid:
    """Of a tensor of activations: step, and the number that stands for 0."""

    scale: float
    zero: int


@dataclass(frozen=True)
class Layer:
    """One 8-bit convolution.

    Attributes:
        name: of the weights, as a state dict of torch has it, without `.weight`.
        inputs: name of the tensor that it reads.
        outputs: name of the tensor that it gives.
        from_layer: whether another 8-bit convolution gives what it reads.
        weight: (outputs, inputs, rows, columns) whole numbers.
        weight_scale: (outputs,).
        bias: (outputs,).
    """

    name: str
    inputs: str
    outputs: str
    from_layer: bool
    weight: NDArray[np.int8]
    weight_scale: NDArray[np.float32]
    bias: NDArray[np.float32]


class QuantizedGraph:
    """A model of the onnx package, as `lab/export/int8.py` makes it, by the names of its 8-bit convolutions."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._constants = {one.name: one for one in model.graph.initializer}
        self._maker = {name: node for node in model.graph.node for name in node.output}
        self._readers: dict[str, list[Any]] = {}
        for node in model.graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)
        self._convolutions = {_layer_name(conv): conv for conv in self._in_8_bits()}
        if not self._convolutions:
            raise ContractError(
                f"{_WHERE}: the network has no 8-bit convolution; one of `mrac train foundation` is needed"
            )

    def layers(self) -> list[Layer]:
        """All of them, in the graph's order."""
        own = {self._rounded(conv)[1] for conv in self._convolutions.values()}
        return [self._layer(name, conv, own) for name, conv in self._convolutions.items()]

    def grids(self) -> dict[str, Grid]:
        """Of every tensor that an 8-bit convolution reads or gives, by its name."""
        names = {name for conv in self._convolutions.values() for name in self._rounded(conv)}
        return {name: Grid(*self._grid(name)) for name in sorted(names)}

    def write(
        self,
        grids: Mapping[str, Grid],
        weights: Mapping[str, tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.float32]]],
    ) -> None:
        """Puts new numbers in the place of the model's.

        Args:
            grids: as `grids` gives them, all of them.
            weights: by the layer's name whole weights, their scales, and the bias.
        """
        for name, grid in grids.items():
            scale, zero = self._quantizer(name).input[1:3]
            self._set(scale, np.float32(grid.scale))
            self._set(zero, np.uint8(grid.zero))
        for name, (weight, scale, bias) in weights.items():
            conv = self._convolutions[name]
            input_scale = np.float32(grids[self._rounded(conv)[0]].scale)
            whole, scales = _with_room_for(bias, weight, scale, input_scale)
            step = input_scale * scales
            of_weight, of_bias = (self._maker[conv.input[i]].input for i in (1, 2))
            self._set(of_weight[0], whole)
            self._set(of_weight[1], scales)
            self._set(of_bias[0], np.rint(bias / step.astype(np.float64)))
            self._set(of_bias[1], step)

    def _in_8_bits(self) -> Iterator[Any]:
        for node in self.model.graph.node:
            made = self._maker.get(node.input[1]) if node.op_type == "Conv" else None
            if made is not None and made.op_type == "DequantizeLinear":
                yield node

    def _rounded(self, conv: Any) -> tuple[str, str]:
        """Names of the tensors, before rounding, that a convolution reads and gives."""
        dequantize = self._maker[conv.input[0]]
        return str(self._maker[dequantize.input[0]].input[0]), str(conv.output[0])

    def _quantizer(self, name: str) -> Any:
        return next(node for node in self._readers[name] if node.op_type == "QuantizeLinear")

    def _grid(self, name: str) -> tuple[float, int]:
        scale, zero = (self._value(part) for part in self._quantizer(name).input[1:3])
        return float(scale), int(zero)

    def _layer(self, name: str, conv: Any, own: set[str]) -> Layer:
        inputs, outputs = self._rounded(conv)
        weight, weight_scale = (self._value(part) for part in self._maker[conv.input[1]].input[:2])
        bias, bias_scale = (self._value(part) for part in self._maker[conv.input[2]].input[:2])
        real = (bias.astype(np.float64) * bias_scale).astype(np.float32)
        return Layer(name, inputs, outputs, inputs in own, weight, weight_scale, real)

    def _value(self, name: str) -> NDArray[Any]:
        from onnx import numpy_helper  # noqa: PLC0415

        return np.array(numpy_helper.to_array(self._constants[name]))

    def _set(self, name: str, values: Any) -> None:
        from onnx import numpy_helper  # noqa: PLC0415

        before = self._value(name)
        after = np.asarray(values).astype(before.dtype).reshape(before.shape)
        self._constants[name].CopyFrom(numpy_helper.from_array(after, name))


def _layer_name(conv: Any) -> str:
    """`encoder.stages.0.0.filter.conv` of the convolution whose weights are called so."""
    return str(conv.input[1]).removesuffix("_DequantizeLinear_Output").removesuffix(".weight")


def _with_room_for(
    bias: NDArray[np.float32], weight: NDArray[np.int8], scales: NDArray[np.float32], input_scale: np.float32
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights and scales of channels whose weights are next to nothing, coarser, so that 32 bits hold their bias."""
    least = np.abs(bias) / (np.float32(2**30) * input_scale)
    room = np.maximum(scales, least).astype(np.float32)
    return np.rint(weight * (scales / room).reshape(-1, 1, 1, 1)).astype(np.int8), room
