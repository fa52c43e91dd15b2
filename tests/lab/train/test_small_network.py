"""The small network's parts beside those of the embedded one."""

import pytest
import torch

from mrac.gpu.network import Attention, DepthNetwork, Encoder, NetworkOptions
from mrac.lab.train.small_network import MapAttention, SmallNetwork


@pytest.fixture(scope="module")
def network() -> SmallNetwork:
    torch.manual_seed(0)
    return SmallNetwork().eval().requires_grad_(False)


@pytest.mark.parametrize("size", [(64, 96), (32, 32), (96, 32)])
def test_the_answer_has_half_the_size_and_starts_at_e_metres(size: tuple[int, int], network: SmallNetwork) -> None:
    answer = network(torch.rand(2, 3, *size) * 255.0)
    assert answer.shape == (2, 1, size[0] // 2, size[1] // 2)
    assert torch.all(answer == 1.0)


def test_attention_by_convolutions_is_attention() -> None:
    torch.manual_seed(0)
    theirs, ours = Attention(32, 4), MapAttention(32, 4)
    shapes = {name: value.shape for name, value in ours.state_dict().items()}
    ours.load_state_dict({name: value.reshape(shapes[name]) for name, value in theirs.state_dict().items()})
    x = 3.0 * torch.randn(2, 32, 5, 7)
    expected = theirs(x)
    assert (expected - x).abs().mean() > 0.1
    torch.testing.assert_close(ours(x), expected, rtol=1e-5, atol=1e-5)


def test_beyond_the_border_lies_what_the_embedded_network_has_there(network: SmallNetwork) -> None:
    """The encoder's first layer sees the image as it is; with weights that allow for that, it says the same."""
    whole = Encoder(2).eval().requires_grad_(False)
    weight = whole.stem.conv.weight
    network.encoder.stem.conv.weight.copy_(weight / 128.0)
    seen: list[torch.Tensor] = []
    handle = network.encoder.stem.conv.register_forward_hook(lambda _, __, output: seen.append(output))
    image = torch.rand(1, 3, 64, 96) * 255.0
    network(image)
    handle.remove()
    padded = torch.nn.functional.pad((image - 127.0) / 128.0, (0, 1, 0, 1))
    shift = weight.sum(dim=(1, 2, 3))[:, None, None] * (127.0 / 128.0)
    torch.testing.assert_close(seen[0] - shift, whole.stem.conv(padded), rtol=1e-4, atol=1e-4)


def test_each_pixel_at_stride_4_gives_four_of_the_depth(network: SmallNetwork) -> None:
    bias = network.out.bias
    assert bias is not None
    bias.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    answer = network(torch.rand(1, 3, 32, 64) * 255.0)[0, 0]
    assert torch.equal(answer[:2, :2], torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert torch.equal(answer, answer[:2, :2].repeat(8, 16))
    bias.fill_(1.0)


def test_it_has_no_more_numbers_than_the_embedded_one(network: SmallNetwork) -> None:
    with torch.device("meta"):
        whole = DepthNetwork(NetworkOptions())
    small, large = (sum(value.numel() for value in one.parameters()) for one in (network, whole))
    assert small < large
