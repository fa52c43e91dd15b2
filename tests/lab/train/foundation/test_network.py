import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image
from torch.nn import functional

from mrac.gpu.network import Convolution, DepthNetwork, Encoder, NetworkOptions
from mrac.lab.train.foundation.imagenet_weights import published_encoder


@pytest.fixture(scope="module")
def network() -> DepthNetwork:
    torch.manual_seed(0)
    return DepthNetwork(NetworkOptions()).eval()


def test_has_as_many_parameters_as_we_say(network: DepthNetwork) -> None:
    assert sum(parameter.numel() for parameter in network.parameters()) == 5_376_609


@pytest.mark.parametrize("size", [(32, 32), (32, 96), (64, 32), (96, 128), (128, 416)])
@pytest.mark.parametrize("num", [1, 2])
def test_gives_half_the_size_for_any_multiple_of_32(network: DepthNetwork, size: tuple[int, int], num: int) -> None:
    with torch.no_grad():
        log_z = network(torch.rand(num, 3, *size) * 255)
    assert log_z.shape == (num, 1, size[0] // 2, size[1] // 2)
    assert bool((log_z == 1.0).all()), "untrained it says e metres"


def test_an_image_is_judged_by_itself(network: DepthNetwork) -> None:
    torch.nn.init.normal_(network.out.weight)
    image = torch.rand(3, 3, 64, 96) * 255
    with torch.no_grad():
        together, alone = network(image), torch.cat([network(one[None]) for one in image])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)
    assert float(together.std()) > 0


@pytest.mark.parametrize(("kernel", "stride", "before"), [(3, 2, 0), (5, 2, 1), (3, 1, 1), (5, 1, 2), (1, 1, 0)])
def test_pads_as_tensorflow_does(kernel: int, stride: int, before: int) -> None:
    """Of an odd sum of padding the smaller half comes first: the tap at `before` sees every stride-th pixel."""
    layer = Convolution(1, 1, kernel, stride=stride, act=False).eval()
    image = torch.rand(1, 1, 8, 12)
    with torch.no_grad():
        layer.conv.weight.zero_()
        layer.conv.weight[0, 0, before, before] = (1 + 1e-3) ** 0.5  # what the batch norm's epsilon takes away
        torch.testing.assert_close(layer(image), image[..., ::stride, ::stride])


@pytest.mark.parametrize("variant", [0, 1, 2])
def test_the_encoder_halves_five_times(variant: int) -> None:
    encoder = Encoder(variant).eval()
    with torch.no_grad():
        maps = encoder(torch.zeros(1, 3, 64, 96))
    assert [tuple(m.shape[1:]) for m in maps] == [
        (channels, 64 // 2**n, 96 // 2**n) for n, channels in enumerate(encoder.channels, start=1)
    ]


def test_published_weights_replace_every_tensor() -> None:
    encoder = Encoder(2)
    with torch.no_grad():
        for tensor in encoder.state_dict().values():
            tensor.fill_(-77)
    weights = published_encoder(2)
    encoder.load_published(weights)
    assert not [name for name, tensor in encoder.state_dict().items() if bool((tensor == -77).any())]
    # Its classifier alone is left over.
    used = sum(tensor.numel() for tensor in encoder.state_dict().values())
    rest = {name: tensor for name, tensor in weights.items() if name.startswith(("_conv_head", "_bn1", "_fc"))}
    assert used == sum(t.numel() for t in weights.values()) - sum(t.numel() for t in rest.values())


@pytest.mark.parametrize(("picture", "classes"), [("chelsea", {281, 282, 285}), ("coffee", {967})])
def test_with_its_published_classifier_the_encoder_knows_a_cat_and_an_espresso(picture: str, classes: set[int]) -> None:
    """Padding, strides and order of the blocks are those the weights were trained with, or it would not."""
    weights = published_encoder(2)
    encoder = Encoder(2).eval()
    encoder.load_published(weights)
    photograph = Image.fromarray(getattr(skimage.data, picture)()).resize((256, 256), Image.Resampling.BICUBIC)
    image = torch.from_numpy(np.array(photograph)).permute(2, 0, 1)[None].float()
    mean, var, scale, shift = (weights[f"_bn1.{name}"] for name in ("running_mean", "running_var", "weight", "bias"))
    with torch.no_grad():
        x = functional.conv2d(encoder((image - 127) / 128)[4], weights["_conv_head.weight"])
        x = functional.relu6(functional.batch_norm(x, mean, var, scale, shift, eps=1e-3)).mean(dim=(2, 3))
        share = (x @ weights["_fc.weight"].T + weights["_fc.bias"]).softmax(dim=1)[0]
    assert int(share.argmax()) in classes
    assert float(share.max()) > 0.5


@pytest.mark.parametrize("missing", ["_conv_stem.weight", "_bn0.running_mean", "_blocks.3._project_conv.weight"])
def test_weights_of_something_else_are_refused(missing: str) -> None:
    weights = published_encoder(2)
    del weights[missing]
    with pytest.raises((KeyError, RuntimeError), match=r"weight|running_mean"):
        Encoder(2).load_published(weights)


def test_branches_are_dropped_in_training_alone() -> None:
    torch.manual_seed(0)
    encoder = Encoder(0, drop=0.9)
    image = torch.rand(1, 3, 32, 32)
    with torch.no_grad():
        encoder.eval()
        assert torch.equal(encoder(image)[4], encoder(image)[4])
        encoder.train()
        for module in encoder.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.eval()
        assert not torch.equal(encoder(image)[4], encoder(image)[4])
