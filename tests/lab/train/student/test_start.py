"""The small network before its first step: what it has of its teacher, and what its norms are given."""

import pytest
import torch
from torch import Tensor, nn

from mrac.foundation.embedded import NETWORK
from mrac.gpu.network import Convolution
from mrac.gpu.published import network_from_onnx
from mrac.lab.train.small_network import SmallNetwork
from mrac.lab.train.student.start import started
from tests.lab.train.student import small

LEARNED, OTHERS = small.crops(0, 12), small.crops(1, 4)


@pytest.fixture(scope="module")
def teacher() -> nn.Module:
    return network_from_onnx(NETWORK)


@pytest.fixture(scope="module")
def network(teacher: nn.Module) -> SmallNetwork:
    torch.manual_seed(0)
    return started(teacher, [LEARNED])


def fine_map(network: nn.Module, image: Tensor) -> Tensor:
    """What the decoder has at stride 4."""
    seen: list[Tensor] = []
    handle = network.get_submodule("refine.2.mix").register_forward_hook(lambda _, __, output: seen.append(output))
    with torch.no_grad():
        network(image)
    handle.remove()
    return seen[0]


def test_the_map_at_stride_4_is_the_teacher_s_to_the_border(teacher: nn.Module, network: SmallNetwork) -> None:
    theirs = fine_map(teacher, OTHERS)
    assert theirs.abs().mean() > 0.1
    torch.testing.assert_close(fine_map(network, OTHERS), theirs, rtol=1e-3, atol=1e-3)


def test_the_answer_is_nearer_to_the_teacher_s_than_the_best_constant(
    teacher: nn.Module, network: SmallNetwork
) -> None:
    with torch.no_grad():
        theirs, ours = teacher(OTHERS), network(OTHERS)
    spread = (theirs - theirs.mean(dim=(1, 2, 3), keepdim=True)).abs().mean()
    assert (ours - theirs).abs().mean() < 0.6 * spread


def test_what_the_norms_give_has_no_mean_and_mostly_a_spread_of_1(network: SmallNetwork) -> None:
    layers = [module for module in network.modules() if isinstance(module, Convolution)]
    outputs: dict[Convolution, Tensor] = {}
    handles = [
        layer.conv.register_forward_hook(lambda _, __, output, layer=layer: outputs.update({layer: output}))
        for layer in layers
    ]
    with torch.no_grad():
        network(LEARNED)
    for handle in handles:
        handle.remove()
    assert len(outputs) == len(layers)
    spreads = []
    for layer, output in outputs.items():
        norm = layer.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = (norm.running_var + norm.eps).sqrt()
        assert ((output.mean(dim=(0, 2, 3)) - norm.running_mean) / scale).abs().max() < 0.02
        spreads.append(output.std(dim=(0, 2, 3)) / scale)
    spread = torch.cat(spreads)
    assert spread.max() < 1.01
    assert (spread > 0.99).float().mean() > 0.8  # where eps counts it is less


def test_filters_start_with_a_size_of_1_or_what_their_small_outputs_allow(network: SmallNetwork) -> None:
    layers = [module for module in network.modules() if isinstance(module, Convolution)]
    sizes = torch.cat([layer.conv.weight.detach().flatten(1).norm(dim=1) for layer in layers])
    variances = torch.cat([layer.norm.running_var for layer in layers if layer.norm.running_var is not None])
    as_it_starts = (sizes - 1.0).abs() < 1e-4
    assert as_it_starts.float().mean() > 0.5
    assert variances[~as_it_starts & (sizes > 1e-3)].max() < 1e-6


def test_what_the_teacher_does_not_have_adds_nothing_yet_and_learns(network: SmallNetwork) -> None:
    assert not network.training
    assert not network.detail.norm.weight.any()
    network(OTHERS).sum().backward()
    gradient = network.detail.norm.weight.grad
    assert gradient is not None
    assert gradient.abs().max() > 0.0
    network.zero_grad()
