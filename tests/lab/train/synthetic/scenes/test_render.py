"""Whole batches: every kind renders, the same seed gives the same batch, only the sky has no depth."""

import pytest
import torch
from torch import Tensor

from mrac.errors import ContractError
from mrac.lab.train.synthetic.scenes import Kind, render_batch
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.roles import LOOKS, Role, Texture
from mrac.lab.train.synthetic.scenes.texture import NUM_LEVELS, SIZE, build_atlas, look_up

SIZE_PX = (36, 48)
KINDS: tuple[Kind, ...] = ("room", "street", "table_top")


def batch(kind: Kind | None, seed: int = 0, photographs: Tensor | None = None) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return render_batch(5, SIZE_PX, generator=generator, device="cpu", kind=kind, photographs=photographs)


@pytest.mark.parametrize("kind", [*KINDS, None])
def test_every_kind_renders(kind: Kind | None) -> None:
    image, z = batch(kind)
    assert image.shape == (5, 3, *SIZE_PX)
    assert z.shape == (5, 1, *SIZE_PX)
    assert image.dtype == z.dtype == torch.float32
    assert bool(image.isfinite().all())
    assert float(image.min()) >= 0
    assert float(image.max()) <= 1
    assert bool((image.flatten(1).std(1) > 0.02).all())
    assert not bool(z.isnan().any())
    assert float(z.min()) > 0


@pytest.mark.parametrize("kind", ["room", "table_top"])
def test_there_is_no_sky_indoors(kind: Kind) -> None:
    _, z = batch(kind)
    assert bool(z.isfinite().all())
    assert float(z.max()) < 30


def test_a_street_has_sky_above_and_road_below() -> None:
    _, z = batch("street")
    assert bool(z.isinf().any())
    assert bool(z[:, :, -1].isfinite().float().mean() > 0.9)


@pytest.mark.parametrize("kind", [*KINDS, None])
def test_the_seed_decides_the_batch(kind: Kind | None) -> None:
    first, again, other = batch(kind, 1), batch(kind, 1), batch(kind, 2)
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[1], other[1])


def test_one_generator_gives_a_new_batch_each_time() -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = (render_batch(2, SIZE_PX, generator=generator, device="cpu")[1] for _ in range(2))
    assert not torch.equal(first, second)


def test_photographs_change_the_pictures() -> None:
    photographs = torch.zeros(2, 3, 40, 50, dtype=torch.uint8)
    photographs[:, 0] = 255
    plain, red = batch("table_top")[0], batch("table_top", photographs=photographs)[0]
    assert float((red[:, 0] - red[:, 1]).mean()) > float((plain[:, 0] - plain[:, 1]).mean()) + 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_images": 0}, "0 images"),
        ({"size": (1, 48)}, "2 × 2"),
        ({"kind": "forest"}, "'forest'"),
        ({"photographs": torch.zeros(2, 3, 8, 8)}, "uint8"),
        ({"photographs": torch.zeros(2, 8, 8, 3, dtype=torch.uint8)}, r"\(N, 3, h, w\)"),
    ],
)
def test_a_callers_mistake_is_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"num_images": 1, "size": SIZE_PX, "generator": torch.Generator(), "device": "cpu"}
    with pytest.raises(ContractError, match=message):
        render_batch(**{**arguments, **change})  # type: ignore[arg-type]


def test_every_role_has_a_look() -> None:
    assert set(LOOKS) == set(Role)


def test_the_atlas_is_looked_up_where_it_was_put() -> None:
    dice = Dice(torch.Generator().manual_seed(0), 1, torch.device("cpu"))
    variants = 2
    atlas = build_atlas(dice, None, variants)
    pictures = (len(Texture) - 1) * variants
    assert len(atlas) == pictures * sum((SIZE >> n) ** 2 for n in range(NUM_LEVELS))
    picture = int(Texture.SPINES) * variants + 1
    image = atlas[picture * SIZE**2 : (picture + 1) * SIZE**2].view(SIZE, SIZE, 3)
    u, v = torch.tensor([3.5, 100.5]) / SIZE, torch.tensor([20.5, 200.5]) / SIZE
    fine = torch.full((2,), 1e-4)
    expected = image[[20, 200], [3, 100]]
    # The same texel, mirrored below 0 and beyond 1, and repeated every second tile.
    for sign, offset in ((1, 0), (-1, 0), (-1, 2), (1, 4)):
        got = look_up(atlas, torch.full((2,), picture), (sign * u + offset, sign * v + offset), fine)
        torch.testing.assert_close(got, expected, atol=2e-3, rtol=0)
    coarse = look_up(atlas, torch.full((2,), picture), (u, v), torch.full((2,), 9.0))
    assert bool(((coarse - image.mean((0, 1))).abs() < 0.25).all())
