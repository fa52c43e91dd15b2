"""Builds an ONNX graph from formulas: tensors with operators, each of which adds a node.

Numbers in formulas are double precision (`float`), int64 (`int`) or bool, as Python has them; numpy's keep their type.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import onnx
from numpy.typing import DTypeLike, NDArray
from onnx import helper, numpy_helper

OPSET = 18
_IR_VERSION = 10  # of opset 18 and later: onnxruntime 1.18 and up read it


class Tensor:
    """A value in a graph.

    Args:
        graph: that it belongs to.
        name: in the graph.
    """

    def __init__(self, graph: "Graph", name: str) -> None:
        self.graph, self.name = graph, name

    def __add__(self, other: "Operand") -> Self:
        return self._op("Add", self, other)

    def __radd__(self, other: "Operand") -> Self:
        return self._op("Add", other, self)

    def __sub__(self, other: "Operand") -> Self:
        return self._op("Sub", self, other)

    def __rsub__(self, other: "Operand") -> Self:
        return self._op("Sub", other, self)

    def __mul__(self, other: "Operand") -> Self:
        return self._op("Mul", self, other)

    def __rmul__(self, other: "Operand") -> Self:
        return self._op("Mul", other, self)

    def __truediv__(self, other: "Operand") -> Self:
        return self._op("Div", self, other)

    def __rtruediv__(self, other: "Operand") -> Self:
        return self._op("Div", other, self)

    def __neg__(self) -> Self:
        return self._op("Neg", self)

    def __lt__(self, other: "Operand") -> Self:
        return self._op("Less", self, other)

    def __le__(self, other: "Operand") -> Self:
        return self._op("LessOrEqual", self, other)

    def __gt__(self, other: "Operand") -> Self:
        return self._op("Greater", self, other)

    def __ge__(self, other: "Operand") -> Self:
        return self._op("GreaterOrEqual", self, other)

    def __and__(self, other: "Operand") -> Self:
        return self._op("And", self, other)

    def __or__(self, other: "Operand") -> Self:
        return self._op("Or", self, other)

    def __invert__(self) -> Self:
        return self._op("Not", self)

    def equal(self, other: "Operand") -> Self:
        """Elementwise; `==` stays Python's."""
        return self._op("Equal", self, other)

    def apply(self, op: str, **attributes: Any) -> Self:
        """A function of one argument: `Exp`, `Abs`, `Sqrt`, ..."""
        return self._op(op, self, **attributes)

    def cast(self, dtype: DTypeLike) -> Self:
        """To another type of number."""
        return self._op("Cast", self, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def transpose(self, *order: int) -> Self:
        """As numpy's."""
        return self._op("Transpose", self, perm=order)

    def reshape(self, *shape: int) -> Self:
        """As numpy's; 0 keeps a side."""
        return self._op("Reshape", self, np.array(shape, np.int64))

    def take(self, index: "Operand", axis: int = 0) -> Self:
        """Entries along one axis; a scalar index removes it."""
        return self._op("Gather", self, index, axis=axis)

    def slice(self, start: int, stop: int, step: int, axis: int) -> Self:
        """A range along one axis."""
        return self._op("Slice", self, *(np.array([each], np.int64) for each in (start, stop, axis, step)))

    def sum(self) -> Self:
        """Of all, a scalar."""
        return self._op("ReduceSum", self, keepdims=0)

    def max(self) -> Self:
        """Of all, a scalar."""
        return self._op("ReduceMax", self, keepdims=0)

    def min(self) -> Self:
        """Of all, a scalar."""
        return self._op("ReduceMin", self, keepdims=0)

    def clip(self, low: "Operand", high: "Operand") -> Self:
        """To a range; ends of the tensor's own type."""
        return self._op("Clip", self, low, high)

    def _op(self, op: str, *operands: "Operand", **attributes: Any) -> Self:
        return self.graph.node(op, *operands, **attributes)  # type: ignore[return-value]


Operand = Tensor | float | int | bool | np.generic | NDArray[Any]


class Graph:
    """Nodes, constants, inputs and outputs as they are added."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._num = 0

    def input(self, name: str, dtype: DTypeLike, shape: Sequence[int]) -> Tensor:
        """An input of the graph."""
        self._inputs.append(_value_info(name, dtype, shape))
        return Tensor(self, name)

    def output(self, name: str, value: Tensor, dtype: DTypeLike, shape: Sequence[int]) -> None:
        """Makes `value` an output of the graph."""
        self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(_value_info(name, dtype, shape))

    def node(self, op: str, *operands: Operand, **attributes: Any) -> Tensor:
        """Adds a node; its first output is what is returned."""
        name = self._new(op)
        num = 2 if op == "TopK" else 1
        outputs = [name, *(f"{name}.{i}" for i in range(1, num))]
        self._nodes.append(helper.make_node(op, [self._name(one) for one in operands], outputs, **attributes))
        return Tensor(self, name)

    def where(self, condition: Tensor, yes: Operand, no: Operand) -> Tensor:
        """Elementwise choice; shapes broadcast."""
        return self.node("Where", condition, yes, no)

    def embed(self, model: onnx.ModelProto, inputs: Mapping[str, Tensor], name: str) -> Tensor:
        """Adds all of a model with one output, which is what is returned, under names that start with `name`.

        Args:
            model: of this opset, without nested graphs.
            inputs: for each of its own.
            name: different for each model in the graph.
        """
        inner = model.graph
        renamed = {own: given.name for own, given in inputs.items()}

        def outer(own: str) -> str:
            return renamed.get(own, f"{name}/{own}" if own else "")

        for constant in inner.initializer:
            copy = onnx.TensorProto()
            copy.CopyFrom(constant)
            copy.name = outer(constant.name)
            self._constants.append(copy)
        for node in inner.node:
            moved = onnx.NodeProto()
            moved.CopyFrom(node)
            moved.name = f"{name}/{node.name}" if node.name else ""
            moved.input[:] = [outer(one) for one in node.input]
            moved.output[:] = [outer(one) for one in node.output]
            self._nodes.append(moved)
        return Tensor(self, outer(inner.output[0].name))

    def model(self, about: Mapping[str, str]) -> onnx.ModelProto:
        """The finished model, checked, with words about it in its metadata."""
        graph = helper.make_graph(self._nodes, "mrac", self._inputs, self._outputs, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=_IR_VERSION)
        model.producer_name = "mrac"
        helper.set_model_props(model, dict(about))
        onnx.checker.check_model(model)
        return model

    def _name(self, operand: Operand) -> str:
        if isinstance(operand, Tensor):
            return operand.name
        name = self._new("constant")
        self._constants.append(numpy_helper.from_array(np.asarray(operand), name))
        return name

    def _new(self, what: str) -> str:
        self._num += 1
        return f"{what}_{self._num}"


def _value_info(name: str, dtype: DTypeLike, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), list(shape))


def ordered(values: Tensor, num: int) -> Tensor:
    """(num,) values in ascending order; none of them NaN."""
    return values.graph.node("TopK", values, np.array([num], np.int64), axis=-1, largest=0, sorted=1)


def masked_median(values: Tensor, valid: Tensor, count: Tensor, num: int) -> Tensor:
    """The median of the `count` (scalar) valid ones of (num,) doubles; meaningless, but never NaN, where count is 0."""
    up = ordered(values.graph.where(valid, values, float(np.finfo(np.float64).max)), num)
    last = values.graph.node("Max", count - 1, 0)
    return (up.take(last / 2) + up.take(count / 2)) * 0.5
