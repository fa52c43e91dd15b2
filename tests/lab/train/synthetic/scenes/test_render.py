"""Whole batches: every kind renders, the same seed gives the same batch, only the sky has no depth."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.gardens import sample_gardens
from mrac.lab.train.synthetic.scenes.render import render, sample_scenes
from mrac.lab.train.synthetic.scenes.roles import LOOKS, Role, Texture
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import SceneBatch
from mrac.lab.train.synthetic.scenes.streets import sample_streets
from mrac.lab.train.synthetic.scenes.table_tops import sample_table_tops
from mrac.lab.train.synthetic.scenes.texture import NUM_LEVELS, SIZE, build_atlas, look_up

SIZE_PX = (36, 48)
Sampler = Callable[[Dice], SceneBatch]
SAMPLERS: tuple[Sampler, ...] = (sample_rooms, sample_streets, sample_table_tops, sample_gardens, sample_scenes)


def batch(sample: Sampler, seed: int = 0, photographs: Tensor | None = None) -> tuple[Tensor, Tensor]:
    dice = Dice(torch.Generator().manual_seed(seed), 5, torch.device("cpu"))
    return render(dice, sample(dice), SIZE_PX, photographs)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_every_kind_renders(sample: Sampler) -> None:
    image, z = batch(sample)
    assert image.shape == (5, 3, *SIZE_PX)
    assert z.shape == (5, 1, *SIZE_PX)
    assert image.dtype == z.dtype == torch.float32
    assert bool(image.isfinite().all())
    assert float(image.min()) >= 0
    assert float(image.max()) <= 1
    assert bool((image.flatten(1).std(1) > 0.02).all())
    assert not bool(z.isnan().any())
    assert float(z.min()) > 0


@pytest.mark.parametrize("sample", [sample_rooms, sample_table_tops])
def test_there_is_no_sky_indoors(sample: Sampler) -> None:
    _, z = batch(sample)
    assert bool(z.isfinite().all())
    assert float(z.max()) < 30


def test_a_street_has_sky_above_and_road_below() -> None:
    _, z = batch(sample_streets)
    assert bool(z.isinf().any())
    assert bool(z[:, :, -1].isfinite().float().mean() > 0.9)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_the_seed_decides_the_batch(sample: Sampler) -> None:
    first, again, other = batch(sample, 1), batch(sample, 1), batch(sample, 2)
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[1], other[1])


def test_one_generator_gives_a_new_batch_each_time() -> None:
    dice = Dice(torch.Generator().manual_seed(0), 2, torch.device("cpu"))
    first, second = (render(dice, sample_scenes(dice), SIZE_PX, None)[1] for _ in range(2))
    assert not torch.equal(first, second)


def test_photographs_change_the_pictures() -> None:
    photographs = torch.zeros(2, 3, 40, 50, dtype=torch.uint8)
    photographs[:, 0] = 255
    plain, red = batch(sample_table_tops)[0], batch(sample_table_tops, photographs=photographs)[0]
    assert float((red[:, 0] - red[:, 1]).mean()) > float((plain[:, 0] - plain[:, 1]).mean()) + 0.01


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
