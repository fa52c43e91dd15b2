"""At the start it is the closed form; then any size, any number of anchors, and the same answer without torch."""

from pathlib import Path
from typing import get_args

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor

from mrac.errors import ContractError
from mrac.head._rendering import Form
from mrac.lab.train.heads.residual_network import (
    Block,
    HeadNetwork,
    Line,
    RawNetwork,
    ResidualNetwork,
    anchor_channel,
    compose,
    correction_unit,
    export_head,
    line_depth,
    normalise_relative,
    raw_depth,
)
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SPACES, Space
from tests.lab.float32_error import summation_error
from tests.lab.train.heads.test_residual_depth import line_of

FORMS: tuple[Form, ...] = get_args(Form)
Kind = type[ResidualNetwork] | type[RawNetwork]


def inputs(size: tuple[int, int], num_anchors: int = 20, num: int = 1, seed: int = 0) -> tuple[Tensor, ...]:
    """Image, normalised relative field, mask and anchor channel, the number of anchors as asked in every image."""
    generator = torch.Generator().manual_seed(seed)
    image = torch.rand(num, 3, *size, generator=generator) * 255
    relative, z = torch.rand(2, num, 1, *size, generator=generator)
    order = torch.rand(num, size[0] * size[1], generator=generator).argsort(dim=1)
    mask = (order < num_anchors).float().view(num, 1, *size)
    return image, relative, mask, (1 + 9 * z) * mask


def lively(network: HeadNetwork) -> HeadNetwork:
    """As after training: no norm does nothing, the last layer is not zero."""
    torch.manual_seed(0)
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.GroupNorm):
                module.weight.uniform_(0.8, 1.2)
                module.bias.normal_(0.0, 0.1)
        network.out.weight.normal_(0.0, 0.05)
    return network.eval()


@pytest.fixture(scope="module")
def trained() -> HeadNetwork:
    return lively(ResidualNetwork())


@pytest.mark.parametrize("kind", [ResidualNetwork, RawNetwork])
def test_has_the_papers_number_of_parameters(kind: Kind) -> None:
    network: HeadNetwork = kind()
    num = sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
    assert 465_000 <= num <= 475_000


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("form", FORMS)
def test_untrained_it_is_the_closed_form_bit_for_bit(space: Space, form: Form) -> None:
    for seed in range(5):
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        image, _, mask, z = inputs((31, 47), num=3, seed=seed)
        x = torch.from_numpy(rng.normal(0, 10.0 ** rng.uniform(-3, 3), (3, 31, 47)).astype(np.float32))
        line = line_of(rng, 3, space)
        line = Line(line.scale, line.shift, correction_unit(z[:, 0], mask[:, 0], space, form), space)
        channel = anchor_channel(line, x, z[:, 0], mask[:, 0], form)
        network = ResidualNetwork().train(seed % 2 == 0)
        with torch.no_grad():
            maps = network(image, normalise_relative(x)[:, None], mask, channel[:, None])
            depth = compose(line, x, maps[:, 0], maps[:, 1])
        assert not bool(maps.any())
        assert depth.dtype == torch.float32
        assert torch.equal(depth, line_depth(line, x))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (2, 2), (31, 47), (32, 32), (33, 65), (120, 401), (480, 640)])
def test_takes_any_size(trained: HeadNetwork, size: tuple[int, int]) -> None:
    with torch.no_grad():
        maps = trained(*inputs(size, num_anchors=2))
    assert maps.shape == (1, 3, *size)
    assert bool(maps.isfinite().all())
    assert float(maps.abs().max()) > 0


@pytest.mark.parametrize("num_anchors", [0, 2, 3, 5, 10, 50, 200, 1000])
def test_takes_any_number_of_anchors(trained: HeadNetwork, num_anchors: int) -> None:
    image, relative, mask, anchor = inputs((61, 83), num_anchors)
    assert int(mask.sum()) == num_anchors
    with torch.no_grad():
        maps = trained(image, relative, mask, anchor)
        assert bool(maps.isfinite().all())
        assert float(maps.std()) < 10.0
        # What stands where there is no anchor is not looked at; what stands at one is.
        junk = torch.where(mask > 0, anchor, float("nan"))
        assert torch.equal(trained(image, relative, mask, junk), maps)
        assert torch.equal(trained(image, relative, mask, anchor + 1), maps) == (num_anchors == 0)


def test_coarser_scales_see_the_mean_of_the_readings_in_reach(trained: HeadNetwork) -> None:
    """Equal readings stay what they are at every scale, however few; a map of plain means would dilute them."""
    seen: list[Tensor] = []
    hooks = [block.register_forward_pre_hook(lambda _, given: seen.append(given[0][:, -2:])) for block in trained.down]
    image, relative, mask, _ = inputs((45, 71), num_anchors=4)
    with torch.no_grad():
        trained(image, relative, mask, 7.0 * mask)
    for hook in hooks:
        hook.remove()
    assert len(seen) == len(trained.down)
    for there, value in (maps.unbind(dim=1) for maps in seen):
        assert bool(there.any())
        torch.testing.assert_close(value, 7.0 * there)


def test_one_hot_relative_pixel_is_only_beyond(trained: HeadNetwork) -> None:
    image, relative, mask, anchor = inputs((40, 56))
    maps = []
    for hot in (5.0, 1e6):
        relative[..., 3, 4] = hot
        with torch.no_grad():
            maps.append(trained(image, relative, mask, anchor))
    assert torch.equal(*maps)


def test_one_anchor_reaches_three_hundred_pixels() -> None:
    """Through the filters alone: a group norm would carry anything anywhere."""
    network = ResidualNetwork().double()
    with torch.no_grad():
        for module in list(network.modules()):
            if isinstance(module, torch.nn.Conv2d):
                module.weight.fill_(1.0 / module.weight[0].numel())
            if isinstance(module, Block):
                for name in ("norm1", "norm2"):
                    setattr(module, name, torch.nn.Identity())
    mask = torch.zeros(1, 1, 9, 1024).double()
    mask[..., 4, 512] = 1
    scene = (torch.full((1, 3, 9, 1024), 200.0).double(), torch.ones_like(mask), mask)
    with torch.no_grad():
        changed = network(*scene, 2 * mask) != network(*scene, 4 * mask)
    reach = (changed[0, 0, 4].nonzero()[:, 0] - 512).abs()
    assert int(reach.max()) >= 300


def test_an_image_is_judged_by_itself_even_in_training(trained: HeadNetwork) -> None:
    batch = inputs((40, 56), num=3)
    with torch.no_grad():
        together = trained.train()(*batch)
        alone = torch.cat([trained(*(x[i : i + 1] for x in batch)) for i in range(3)])
    trained.eval()
    allowed = summation_error(trained) * float(alone.abs().max())
    torch.testing.assert_close(together, alone, atol=allowed, rtol=0)


@pytest.mark.parametrize("kind", [ResidualNetwork, RawNetwork])
def test_every_weight_learns(kind: Kind) -> None:
    network = lively(kind()).train()
    image, relative, mask, anchor = inputs((70, 90), num=2)
    maps = network(image, relative, mask, anchor)
    rng = np.random.default_rng(0)
    depth = compose(line_of(rng, 2, "depth"), relative[:, 0], maps[:, 0], maps[:, 1], limits_m=(0.1, 80.0))
    depth = depth if kind is ResidualNetwork else raw_depth(maps[:, 0])
    (depth.log().mean() + maps.square().mean()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name
        assert bool(parameter.grad.any()), name


def test_the_raw_network_starts_at_three_metres() -> None:
    with torch.no_grad():
        maps = RawNetwork()(*inputs((31, 47)))
    torch.testing.assert_close(raw_depth(maps[:, 0]), torch.full((1, 31, 47), 3.0))
    assert not bool(maps[:, 1].any())
    extreme = raw_depth(torch.tensor([[[-1e30, 1e30]]]))
    torch.testing.assert_close(extreme, torch.tensor([[[MIN_DEPTH_M, MAX_DEPTH_M]]]))


@pytest.fixture(scope="module")
def exported(trained: HeadNetwork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("head") / "head.onnx"
    export_head(trained, path, {"mrac.form": "scale_free", "mrac.space": "depth", "mrac.recipe": "none"})
    return path


def test_the_file_says_what_it_is(exported: Path) -> None:
    session = onnxruntime.InferenceSession(str(exported), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == {
        "mrac.kind": "residual", "mrac.form": "scale_free", "mrac.space": "depth", "mrac.recipe": "none",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "about", "says"),
    [
        (ResidualNetwork, {"mrac.space": "depth"}, r"about has mrac\.form = None where metres or scale_free"),
        (ResidualNetwork, {"mrac.form": "metres", "mrac.space": "metres"}, r"mrac\.space = 'metres'"),
        (RawNetwork, {"mrac.form": "scale_free", "mrac.space": "depth"}, r"mrac\.form = 'scale_free' where metres is"),
    ],
)
def test_a_file_that_no_head_could_read_is_not_written(
    kind: Kind, about: dict[str, str], says: str, tmp_path: Path
) -> None:
    network: HeadNetwork = kind()
    with pytest.raises(ContractError, match=says):
        export_head(network, tmp_path / "head.onnx", about)
    assert not list(tmp_path.iterdir())


def test_the_file_says_what_torch_says(trained: HeadNetwork, exported: Path) -> None:
    """At every size and number of anchors from one file, which is no larger than it must be."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(exported), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    assert names == ["image", "relative", "mask", "anchor"]
    assert exported.stat().st_size < 2_000_000
    for num, size, num_anchors in (
        (1, (31, 47), 5),
        (2, (64, 96), 50),
        (3, (33, 5), 2),
        (1, (1, 1), 1),
        (1, (1, 9), 2),
        (1, (2, 2), 2),
        (1, (120, 401), 1000),
        (1, (480, 640), 200),
    ):
        batch = inputs(size, num_anchors, num)
        with torch.no_grad():
            expected = trained(*batch).numpy()
        given_maps = session.run(None, {name: x.numpy() for name, x in zip(names, batch, strict=True)})[0]
        np.testing.assert_allclose(given_maps, expected, rtol=0, atol=1e-3)
