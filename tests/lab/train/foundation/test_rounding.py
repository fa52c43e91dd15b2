"""Weights on the grid of the file: exporting them loses nothing."""

import copy
from pathlib import Path

import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from mrac.gpu.network import Convolution, DepthNetwork, NetworkOptions
from mrac.lab.export.onnx import KEPT_WHOLE, STEPS, Bits
from mrac.lab.train.foundation.rounding import round_weights
from mrac.lab.train.foundation.run import export_foundation
from tests.lab.export.test_onnx import lively
from tests.lab.float32_error import summation_error


@pytest.fixture(scope="module")
def network() -> DepthNetwork:
    torch.manual_seed(0)
    return lively(DepthNetwork(NetworkOptions()))


@pytest.mark.parametrize("bits", [8, 16])
def test_large_weights_move_a_little_and_small_ones_not_at_all(network: DepthNetwork, bits: Bits) -> None:
    rounded = copy.deepcopy(network)
    round_weights(rounded, bits)
    moved = 0
    for (name, before), after in zip(network.named_parameters(), rounded.parameters(), strict=True):
        if before.numel() >= KEPT_WHOLE:
            assert 0 < (after - before).abs().max() <= before.abs().max() / STEPS[bits], name
            moved += 1
        else:
            torch.testing.assert_close(after, before, rtol=0, atol=0)
    assert moved > 30


def test_rounding_twice_is_rounding_once(network: DepthNetwork) -> None:
    once = copy.deepcopy(network)
    round_weights(once)
    twice = copy.deepcopy(once)
    round_weights(twice)
    for before, after in zip(once.parameters(), twice.parameters(), strict=True):
        torch.testing.assert_close(after, before, rtol=1e-6, atol=1e-9)


def test_a_convolution_without_a_norm_is_rounded_by_its_own_scale() -> None:
    plain = nn.Sequential(nn.Conv2d(100, 60, 3), nn.ReLU(), nn.BatchNorm2d(60))
    conv = plain[0]
    assert isinstance(conv, nn.Conv2d)
    before = conv.weight.clone()
    round_weights(plain, 8)
    steps = conv.weight / before.abs().amax(dim=(1, 2, 3), keepdim=True) * 127
    torch.testing.assert_close(steps, before / before.abs().amax(dim=(1, 2, 3), keepdim=True) * 127, rtol=0, atol=0.501)
    torch.testing.assert_close(steps, steps.round(), rtol=0, atol=1e-4)


def test_a_silenced_channel_stays_finite(network: DepthNetwork) -> None:
    silenced = copy.deepcopy(network)
    with torch.no_grad():
        silenced.reduce.norm.weight[3] = 0.0
    round_weights(silenced)
    torch.testing.assert_close(silenced.reduce.conv.weight[3], network.reduce.conv.weight[3], rtol=0, atol=0)
    assert all(p.isfinite().all() for p in silenced.parameters())


@pytest.fixture(scope="module")
def exported(network: DepthNetwork, tmp_path_factory: pytest.TempPathFactory) -> tuple[DepthNetwork, Path]:
    """The network, rounded, and its file."""
    rounded, path = copy.deepcopy(network), tmp_path_factory.mktemp("rounded") / "network.onnx"
    round_weights(rounded)
    export_foundation(rounded, path)
    return rounded, path


def folded(network: DepthNetwork) -> dict[str, Tensor]:
    """The large weights of convolutions, each times the gain of its norm, by the name that they have in the file."""
    found = {}
    for name, block in network.named_modules():
        if isinstance(block, Convolution) and block.conv.weight.numel() >= KEPT_WHOLE:
            assert block.norm.running_var is not None
            gain = block.norm.weight * torch.rsqrt(block.norm.running_var + block.norm.eps)
            found[f"{name}.conv.weight"] = (block.conv.weight * gain[:, None, None, None]).detach()
    return found


def test_the_file_holds_the_rounded_weights(network: DepthNetwork, exported: tuple[DepthNetwork, Path]) -> None:
    rounded, path = exported
    stored = {c.name: torch.tensor(numpy_helper.to_array(c)) for c in onnx.load(str(path)).graph.initializer}
    rounded_weights, moved = folded(rounded), folded(network)
    assert len(rounded_weights) > 30
    farthest = 0.0
    for name, weight in rounded_weights.items():
        from_file = stored[f"{name}.short"] * stored[f"{name}.scale"]
        largest = weight.abs().amax(dim=(1, 2, 3), keepdim=True)
        # Gain, weight, their product, scale, the product in the file: at most eight float32 roundings of 2^-24 each.
        assert float(((from_file - weight).abs() / largest).max()) <= 8 * 2.0**-24, name
        farthest = max(farthest, float(((from_file - moved[name]).abs() / largest).max()))
    # Weights that were not rounded lie up to half a step of the grid, 2^-16 of the largest, beside it.
    assert 0.9 * 2.0**-16 < farthest < 1.1 * 2.0**-16


def test_the_file_of_a_rounded_network_is_the_network(exported: tuple[DepthNetwork, Path]) -> None:
    rounded, path = exported
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    image = 255 * torch.rand(1, 3, 96, 128, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = rounded(image)
    got = torch.from_numpy(session.run(None, {"image": image.numpy()})[0])
    assert float((got - expected).abs().max()) < summation_error(rounded) * float(expected.abs().max())
