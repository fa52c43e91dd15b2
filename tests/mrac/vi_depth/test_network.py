import hashlib
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (as everyone calls it; the tables below stay on one line each)

from mrac.gpu import network as train_network
from mrac.vi_depth.network import Fusion, InvertedResidual, SameConvolution, ScaleMapLearner

FACTS = Path(__file__).parents[4] / "shared" / "facts" / "vi_depth_sml_keys.tsv"


@pytest.fixture(scope="module")
def network() -> ScaleMapLearner:
    torch.manual_seed(0)
    return ScaleMapLearner().eval()


def described(network: ScaleMapLearner) -> list[tuple[str, str, str]]:
    """Name, shape and kind of number of every entry, in order."""
    return [
        (name, "x".join(map(str, value.shape)) or "scalar", str(value.dtype).removeprefix("torch."))
        for name, value in network.state_dict().items()
    ]


def test_names_and_shapes_are_the_published_ones(network: ScaleMapLearner) -> None:
    lines = sorted(f"{name} {shape}" for name, shape, _ in described(network))
    assert len(lines) == 489
    assert sum(parameter.numel() for parameter in network.parameters()) == 21_320_608
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "aa187c91b2237dc65d087fc99a71e6faa2c643c109b3ea013c017b5a2a82c8be"


def test_every_entry_is_the_documented_one(network: ScaleMapLearner) -> None:
    if not FACTS.is_file():
        pytest.skip("facts/vi_depth_sml_keys.tsv is not beside the repository; only its digest was compared")
    rows = [tuple(line.split("\t")) for line in FACTS.read_text(encoding="utf-8").splitlines()[1:]]
    parameters = {name for name, _ in network.named_parameters()}
    own = [(*entry, "parameter" if entry[0] in parameters else "buffer") for entry in described(network)]
    assert own == rows


def test_its_maps_have_the_documented_shapes(network: ScaleMapLearner) -> None:
    seen = {}
    names = [f"pretrained.layer{n}" for n in (1, 2, 3, 4)] + [f"scratch.refinenet{n}" for n in (4, 3, 2, 1)]
    hooks = [
        network.get_submodule(name).register_forward_hook(
            lambda _module, _inputs, output, name=name: seen.update({name: tuple(output.shape[1:])})
        )
        for name in names
    ]
    with torch.no_grad():
        scale = network(torch.zeros(1, 2, 288, 384))
    for hook in hooks:
        hook.remove()
    expected = [(32, 72, 96), (48, 36, 48), (136, 18, 24), (384, 9, 12)]
    expected += [(256, 18, 24), (128, 36, 48), (64, 72, 96), (64, 144, 192)]
    assert [seen[name] for name in names] == expected
    assert scale.shape == (1, 1, 288, 384)


def reference(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """The documented tables, followed layer by layer on the bare weights."""

    def conv(x: Tensor, name: str, stride: int = 1) -> Tensor:
        weight, bias = state[f"{name}.weight"], state.get(f"{name}.bias")
        k = weight.shape[-1]
        around = {(3, 2): (0, 1, 0, 1), (5, 2): (1, 2, 1, 2)}.get((k, stride), (k // 2,) * 4)
        return F.conv2d(F.pad(x, around), weight, bias, stride, groups=x.shape[1] // weight.shape[1])

    def norm(x: Tensor, name: str, eps: float = 1e-3) -> Tensor:
        mean, var, weight, bias = (
            state[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        return F.batch_norm(x, mean, var, weight, bias, eps=eps)

    def inverted(x: Tensor, name: str, stride: int) -> Tensor:
        y = F.relu6(norm(conv(x, f"{name}.conv_pw"), f"{name}.bn1"))
        y = F.relu6(norm(conv(y, f"{name}.conv_dw", stride), f"{name}.bn2"))
        y = norm(conv(y, f"{name}.conv_pwl"), f"{name}.bn3")
        return x + y if x.shape == y.shape else y

    def unit(x: Tensor, name: str) -> Tensor:
        return conv(F.relu(conv(F.relu(x), f"{name}.conv1")), f"{name}.conv2") + x

    x = F.relu(norm(conv(x, "first.0"), "first.1", 1e-5))
    x = F.relu6(norm(conv(x, "pretrained.layer1.0", 2), "pretrained.layer1.1"))
    x = F.relu6(norm(conv(x, "pretrained.layer1.3.0.conv_dw"), "pretrained.layer1.3.0.bn1"))
    x = norm(conv(x, "pretrained.layer1.3.0.conv_pw"), "pretrained.layer1.3.0.bn2")
    maps = {}
    for stage, num, stride in [
        ("1.4", 3, 2),
        ("2.0", 3, 2),
        ("3.0", 5, 2),
        ("3.1", 5, 1),
        ("4.0", 6, 2),
        ("4.1", 1, 1),
    ]:
        for n in range(num):
            x = inverted(x, f"pretrained.layer{stage}.{n}", stride if n == 0 else 1)
        maps[int(stage[0])] = x
    y = torch.zeros(())
    for level in (4, 3, 2, 1):
        name, side = f"scratch.refinenet{level}", conv(maps[level], f"scratch.layer{level}_rn")
        y = side if level == 4 else y + unit(side, f"{name}.resConfUnit1")
        y = F.interpolate(unit(y, f"{name}.resConfUnit2"), scale_factor=2.0, mode="bilinear", align_corners=True)
        y = conv(y, f"{name}.out_conv")
    head = "scratch.output_conv.output_conv"
    y = F.interpolate(conv(y, f"{head}.0"), scale_factor=2.0, mode="bilinear", align_corners=False)
    return F.relu(1.0 + conv(F.relu(conv(y, f"{head}.2")), f"{head}.4"))


def test_computes_what_the_documented_tables_say() -> None:
    torch.manual_seed(2)
    network = ScaleMapLearner().eval()
    for name, value in network.state_dict().items():
        if name.endswith(("running_var", "bn1.weight", "bn2.weight", "bn3.weight")):
            torch.nn.init.uniform_(value, 0.5, 2.0)
        elif name.endswith(("running_mean", "bias")):
            torch.nn.init.normal_(value, std=0.2)
    x = torch.randn(1, 2, 64, 96)
    with torch.no_grad():
        got, expected = network(x), reference(network.state_dict(), x)
    assert float(got.std()) > 1e-3
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


def test_a_silent_last_layer_changes_no_scale_and_a_loud_one_never_makes_it_negative() -> None:
    torch.manual_seed(0)
    network = ScaleMapLearner().eval()
    last = network.get_submodule("scratch.output_conv.output_conv.4")
    assert isinstance(last, torch.nn.Conv2d)
    assert last.bias is not None
    torch.nn.init.zeros_(last.weight)
    with torch.no_grad():
        last.bias.zero_()
        assert bool((network(torch.randn(2, 2, 64, 96)) == 1.0).all())
        last.bias.fill_(-3.0)
        assert bool((network(torch.randn(2, 2, 64, 96)) == 0.0).all())


@pytest.mark.parametrize(
    ("inputs", "outputs", "kernel", "stride"), [(24, 32, 3, 2), (32, 32, 3, 1), (32, 48, 5, 2), (48, 48, 5, 1)]
)
def test_a_block_computes_what_the_embedded_foundation_s_does(
    inputs: int, outputs: int, kernel: int, stride: int
) -> None:
    """That one was checked against published EfficientNet-Lite weights; names differ, arithmetic must not."""
    torch.manual_seed(1)
    ours = InvertedResidual(inputs, outputs, kernel, stride).eval()
    for name, value in ours.state_dict().items():
        if "bn" in name and value.is_floating_point():
            torch.nn.init.uniform_(value, 0.5, 1.5)
    other = train_network.InvertedResidual(inputs, outputs, kernel, stride, 6).eval()
    pairs = {"expand": ("conv_pw", "bn1"), "filter": ("conv_dw", "bn2"), "project": ("conv_pwl", "bn3")}
    for part, (conv, norm) in pairs.items():
        other.get_submodule(f"{part}.conv").load_state_dict(ours.get_submodule(conv).state_dict())
        other.get_submodule(f"{part}.norm").load_state_dict(ours.get_submodule(norm).state_dict())
    x = torch.randn(2, inputs, 16, 24)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), other(x))


@pytest.mark.parametrize(("kernel", "before"), [(3, 0), (5, 1)])
def test_at_stride_two_the_smaller_half_of_the_padding_comes_first(kernel: int, before: int) -> None:
    layer = SameConvolution(1, 1, kernel, stride=2)
    image = torch.rand(1, 1, 8, 12)
    with torch.no_grad():
        layer.weight.zero_()
        layer.weight[0, 0, before, before] = 1.0
        torch.testing.assert_close(layer(image), image[..., ::2, ::2])


def test_fusion_doubles_from_corner_to_corner_and_adds_the_skip() -> None:
    block = Fusion(1, 1)
    for parameter in block.parameters():
        torch.nn.init.zeros_(parameter)
    torch.nn.init.ones_(block.out_conv.weight)
    ramp = torch.linspace(-3.0, 3.0, 4).expand(1, 1, 4, 4)
    with torch.no_grad():
        torch.testing.assert_close(block(ramp), torch.linspace(-3.0, 3.0, 8).expand(1, 1, 8, 8))
        torch.testing.assert_close(block(ramp, -ramp), torch.zeros(1, 1, 8, 8))
