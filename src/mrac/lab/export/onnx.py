"""A torch network as a small ONNX file: weights in 16 or 8 bits, arithmetic in single precision."""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import nn

from mrac.errors import MissingExtra
from mrac.io.files import write_whole

_OPSET = 18
# Biases and per-channel filters are few, and everything passes through them: rounding those as well doubled the error.
KEPT_WHOLE = 25_000  # numbers in a tensor that is not worth shortening
Bits = Literal[8, 16]
OUTPUT: Final = ("output_parts", "output_sum")  # the names of the convolutions of `split_output`
STEPS: Final[Mapping[Bits, int]] = {8: 127, 16: 32767}  # of an integer of so many bits, to either side of 0


def export_onnx(
    network: nn.Module,
    path: Path,
    sample: Mapping[str, torch.Tensor],
    shapes: Mapping[str, Any],
    output: str,
    about: Mapping[str, str] | None = None,
    bits: Bits = 16,
) -> None:
    """Writes `network` to `path`.

    The bits are for storage alone: the file multiplies the weights back when it is loaded, so the arithmetic, and
    with it the answer, is that of the network with rounded weights. One whose weights lie on that grid already
    (`train/foundation/rounding.py`) loses nothing.

    Args:
        network: in evaluation mode is how it is written; it takes the tensors of `sample` in that order.
        path: of the .onnx file.
        sample: an input, by name.
        shapes: of each input, what `torch.export` calls dynamic shapes.
        output: the name of the one output.
        about: words about the network, kept in the file's `metadata_props`.
        bits: for each number of the large weights.

    Raises:
        MissingExtra: `onnx` and `onnxscript` are not installed.
    """
    write_model(traced(network, sample, shapes, output, about), path, bits)


def write_model(model: Any, path: Path, bits: Bits = 16) -> None:
    """Writes a model of the onnx package, its large constants in `bits` each, to `path`."""
    shorten(model, bits)
    check_model(model)
    write_whole(path, lambda file: file.write(model.SerializeToString()))


def check_model(model: Any) -> None:
    """Raises the onnx package's own error if a model of it is not valid."""
    import onnx  # noqa: PLC0415

    onnx.checker.check_model(model)


def traced(
    network: nn.Module,
    sample: Mapping[str, torch.Tensor],
    shapes: Mapping[str, Any],
    output: str,
    about: Mapping[str, str] | None = None,
    *,
    optimize: bool = True,
) -> Any:
    """`network` as a model of the onnx package, its weights as they are; the arguments are those of `export_onnx`.

    Without `optimize` every weight stays an initialiser of its own: otherwise the exporter transposes matrices, folds
    what is constant and merges weights of the same values.

    Raises:
        MissingExtra: `onnx` and `onnxscript` are not installed.
    """
    try:
        import onnx  # noqa: PLC0415
        import onnxscript  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtra("exporting a network", "lab") from None
    was_training = network.training
    with _quiet():
        program = torch.onnx.export(
            network.eval(),
            tuple(sample.values()),
            dynamo=True,
            input_names=list(sample),
            output_names=[output],
            dynamic_shapes=dict(shapes),
            opset_version=_OPSET,
            optimize=optimize,
        )
        assert program is not None  # with dynamo=True and no file, the program is what is given back
        model = program.model_proto
    network.train(was_training)
    _forget_origin(model)
    # Sorted: safetensors gives a file's words in another order each time, and the same network is to be the same bytes.
    onnx.helper.set_model_props(model, dict(sorted((about or {}).items())))
    return model


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's running commentary: it prints, it logs that torchvision is missing, it warns of itself."""
    previous = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)


def _forget_origin(model: Any) -> None:
    """Drops what the exporter notes of its own: stack traces, with the paths of the machine that trained."""
    graph = model.graph
    for holder in (model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        holder.ClearField("metadata_props")
        holder.ClearField("doc_string")


def split_output(model: Any) -> None:
    """Writes a model's last convolution, of C channels to one, as one filter per channel and their sum.

    ONNX Runtime computes sixteen output channels where one is asked for: 2.3 ms of the embedded network's 51 for its
    last layer, against 0.4 ms split. Weights and bias keep their names: the transposition is folded on loading.
    """
    from onnx import helper, numpy_helper  # noqa: PLC0415

    nodes = list(model.graph.node)
    at = max(i for i, node in enumerate(nodes) if node.op_type == "Conv")
    last = nodes[at]
    image, weight, bias = last.input
    channels = next(numpy_helper.to_array(t).shape[1] for t in model.graph.initializer if t.name == weight)
    options = {one.name: helper.get_attribute_value(one) for one in last.attribute} | {"group": channels}
    ones = np.ones((1, channels, 1, 1), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(ones, "output.ones"))
    nodes[at : at + 1] = [
        helper.make_node("Transpose", [weight], ["output.filters"], name="output_filters", perm=[1, 0, 2, 3]),
        helper.make_node("Conv", [image, "output.filters"], ["output.parts"], name=OUTPUT[0], **options),
        helper.make_node("Conv", ["output.parts", "output.ones", bias], list(last.output), name=OUTPUT[1]),
    ]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)


def shorten(model: Any, bits: Bits) -> None:
    """Stores the large constants as short integers with one scale per output channel, multiplied back on loading."""
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

    kind: Any = np.int16 if bits == 16 else np.int8
    steps, scales = [], []
    for constant in model.graph.initializer:
        values = numpy_helper.to_array(constant)
        if values.dtype != np.float32 or values.size < KEPT_WHOLE:
            continue
        # Convolutions have their outputs first, matrix products last.
        axes = tuple(range(1, values.ndim)) if values.ndim == 4 else tuple(range(values.ndim - 1))
        scale = np.maximum(np.abs(values).max(axis=axes, keepdims=True) / STEPS[bits], 1e-30).astype(np.float32)
        name = constant.name
        constant.CopyFrom(numpy_helper.from_array(np.rint(values / scale).astype(kind), f"{name}.short"))
        scales.append(numpy_helper.from_array(scale, f"{name}.scale"))
        steps.append(helper.make_node("Cast", [f"{name}.short"], [f"{name}.long"], to=TensorProto.FLOAT))
        steps.append(helper.make_node("Mul", [f"{name}.long", f"{name}.scale"], [name]))
    model.graph.initializer.extend(scales)
    nodes = [*steps, *model.graph.node]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
