"""The 8-bit grid: what ONNX Runtime rounds to, and gradients that pass inside it and move its ends outside."""

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper

from mrac.conventions import FloatArray
from mrac.lab.train.quantized.rounding import Rounding, whole_steps


def by_onnx_runtime(x: FloatArray, scale: float, zero: int) -> FloatArray:
    constants = [
        helper.make_tensor("scale", TensorProto.FLOAT, [], [scale]),
        helper.make_tensor("zero", TensorProto.UINT8, [], [zero]),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None]) for name in "xy"]
    graph = helper.make_graph(nodes, "rounding", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


@pytest.mark.parametrize(("scale", "zero"), [(6 / 255, 0), (0.037, 101), (1.0, 3)])
def test_values_are_those_of_onnx_runtime(scale: float, zero: int) -> None:
    x = np.random.default_rng(0).normal(0, 100 * scale, 1_000).astype(np.float32)
    x[:4] = scale * np.array([0.5, 1.5, -0.5, 2.5])  # ties go to the even number
    rounded = Rounding(scale, zero)(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(rounded, by_onnx_runtime(x, scale, zero), atol=1e-5 * scale * 255)


@pytest.mark.parametrize(("learned", "zero"), [(-2.0, 0), (257.4, 255)])
def test_a_zero_that_was_learned_beyond_a_byte_is_the_file_s(learned: float, zero: int) -> None:
    rounding = Rounding(0.05, 100)
    rounding.zero.data.fill_(learned)
    assert rounding.grid[1] == zero
    x = np.linspace(-20.0, 20.0, 401).astype(np.float32)
    np.testing.assert_allclose(
        rounding(torch.from_numpy(x)).detach().numpy(), by_onnx_runtime(x, 0.05, zero), atol=1e-4
    )


def test_gradients_pass_inside_and_move_the_ends_outside() -> None:
    rounding = Rounding(0.5, 10)  # from −5 to 122.5
    x = torch.tensor([0.2, -5.1, -40.0, 500.0], requires_grad=True)
    rounding(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0, 0.0, 0.0]  # −5.1 still rounds to −5
    # Of log scale: what rounding moved inside, the ends themselves outside; of zero: one step a value outside.
    assert float(rounding.log_scale.grad) == pytest.approx((0.0 - 0.2) + (-5.0 + 5.1) + (-5.0) + 122.5)  # type: ignore[arg-type]
    assert float(rounding.zero.grad) == pytest.approx(-0.5 * 2)  # type: ignore[arg-type]


def test_what_follows_a_relu_keeps_its_zero() -> None:
    assert not Rounding(0.1, 0).zero.requires_grad
    scale, zero = Rounding(0.1, 0).grid
    assert scale == pytest.approx(0.1)
    assert zero == 0


def test_weights_are_whole_numbers_of_so_many_bits_whose_gradient_passes() -> None:
    steps = torch.tensor([0.4, -3.6, 90.0], requires_grad=True)
    rounded = whole_steps(steps, 64)
    rounded.sum().backward()  # type: ignore[no-untyped-call]
    assert rounded.tolist() == [0.0, -4.0, 64.0]
    assert steps.grad is not None
    assert steps.grad.tolist() == [1.0, 1.0, 1.0]
