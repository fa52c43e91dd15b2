"""The 8-bit network in torch: layer by layer what ONNX Runtime computes; what is written back is what was learned."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from PIL import Image

from mrac import examples
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.foundation.embedded import NETWORK, NETWORKS
from mrac.lab.train.quantized.graph import Grid, QuantizedGraph
from mrac.lab.train.quantized.network import QuantizedNetwork

ROOM = Image.fromarray(examples.load("room").image).resize((96, 64))  # of noise the network says nearly nothing
IMAGE = np.array(ROOM, np.float32).transpose(2, 0, 1)[None].copy()


def load() -> Any:
    return onnx.load(NETWORKS["int8"])


def answers(model: Any, names: list[str]) -> dict[str, FloatArray]:
    """Those tensors as ONNX Runtime computes them, without its optimiser, which would replace them."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    shown.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(shown.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {"image": IMAGE}), strict=True))


@pytest.fixture(scope="module")
def pair() -> tuple[Any, QuantizedNetwork]:
    model = load()
    return model, QuantizedNetwork(NETWORK, QuantizedGraph(model))


def rewrite(model: Any, network: QuantizedNetwork) -> None:
    QuantizedGraph(model).write(network.grids(), network.weights())


def test_every_layer_gives_what_onnx_runtime_gives_for_the_same_input(pair: tuple[Any, QuantizedNetwork]) -> None:
    model, network = pair
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    rewrite(copied, network)  # the same weights: fine-tuning starts from the network in single precision
    layers = QuantizedGraph(copied).layers()
    seen = answers(copied, sorted({name for layer in layers for name in (layer.inputs, layer.outputs)}))
    for layer in layers:
        scale, _ = network.roundings[layer.outputs].grid
        with torch.no_grad():
            given = network.roundings[layer.inputs](torch.from_numpy(seen[layer.inputs]))
            mine = network.layers[layer.name](given).numpy()
            theirs = network.roundings[layer.outputs](torch.from_numpy(seen[layer.outputs])).numpy()
        off = np.abs(mine - theirs) / scale
        assert off.max() < 1.5, layer.name  # a value between two numbers may go to either
        assert np.mean(off > 0.5) < 0.01, layer.name


def test_the_whole_is_about_as_far_from_onnx_runtime_as_rounding_moves_it(pair: tuple[Any, QuantizedNetwork]) -> None:
    model, network = pair
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    rewrite(copied, network)
    with torch.no_grad():
        mine = network(torch.from_numpy(IMAGE)).numpy()
    theirs = answers(copied, ["log_depth"])["log_depth"]
    exact = onnxruntime.InferenceSession(str(NETWORK), providers=["CPUExecutionProvider"]).run(None, {"image": IMAGE})[
        0
    ]
    # A sum that falls between two whole numbers goes one way here and the other there, and all behind it changes.
    assert np.abs(mine - theirs).mean() < 2 * np.abs(theirs - exact).mean()


def test_what_is_written_is_read_again() -> None:
    model = load()
    network = QuantizedNetwork(NETWORK, QuantizedGraph(model))
    with torch.no_grad():
        for parameter in network.learned().values():
            parameter.add_(0.3)
    rewrite(model, network)
    graph = QuantizedGraph(model)
    assert graph.grids() == {
        name: Grid(pytest.approx(grid.scale), grid.zero)  # type: ignore[arg-type]
        for name, grid in network.grids().items()
    }
    for layer in graph.layers():
        weight, scale, bias = network.layers[layer.name].numbers()
        same = np.isclose(layer.weight_scale, scale, atol=0)  # but for channels whose weights are next to nothing
        assert np.mean(same) > 0.8
        np.testing.assert_array_equal(layer.weight[same], weight[same])
        step = network.roundings[layer.inputs].grid[0] * layer.weight_scale
        assert np.all(np.abs(layer.bias - bias) <= 0.51 * step + 1e-6 * np.abs(bias))


def test_the_bias_of_a_channel_without_weights_fits_32_bits() -> None:
    model = load()
    network = QuantizedNetwork(NETWORK, QuantizedGraph(model))
    weights = dict(network.weights())
    name, (weight, scale, bias) = next(iter(weights.items()))
    weights[name] = (weight, np.where(np.arange(len(scale)) == 1, 1e-12, scale).astype(np.float32), bias + 1.0)
    QuantizedGraph(model).write(network.grids(), weights)
    layer = QuantizedGraph(model).layers()[0]
    np.testing.assert_allclose(layer.bias, bias + 1.0, atol=float(np.max(scale)) * network.grids()[layer.inputs].scale)
    assert not layer.weight[1].any()


def test_a_network_without_8_bit_convolutions_is_refused() -> None:
    with pytest.raises(ContractError, match="no 8-bit convolution"):
        QuantizedGraph(onnx.load(NETWORK))
