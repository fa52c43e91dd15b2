"""Gardens: plants close by, sky only outdoors, the camera in the aisle and clear of leaves."""

import pytest
import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.cast import NEAR_CLIP_M
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.gardens import sample_gardens
from mrac.lab.train.synthetic.scenes.place import too_close
from mrac.lab.train.synthetic.scenes.render import trace
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import (
    NUM_BOXES,
    NUM_PIECES,
    NUM_ROUND_PIECES,
    NUM_ROUNDS,
    Pieces,
    SceneBatch,
)

NUM = 64


@pytest.fixture(scope="module")
def gardens() -> SceneBatch:
    return sample_gardens(Dice(torch.Generator().manual_seed(0), NUM, torch.device("cpu")))


@pytest.fixture(scope="module")
def z_m(gardens: SceneBatch) -> Tensor:
    return trace(gardens, (54, 72))[0].z


def test_depth_is_positive_and_infinite_only_in_the_sky(gardens: SceneBatch, z_m: Tensor) -> None:
    assert not bool(z_m.isnan().any())
    assert float(z_m.min()) >= NEAR_CLIP_M
    assert bool(z_m[~gardens.outdoors].isfinite().all()), "a greenhouse has a roof"
    assert float(z_m[~gardens.outdoors].max()) < 100
    sky = z_m[gardens.outdoors].isinf().float().mean(dim=(0, 2))
    assert float(sky[:10].mean()) > 0.3
    assert float(sky[-10:].mean()) < 0.05


def test_gardens_and_greenhouses_are_about_as_many(gardens: SceneBatch) -> None:
    assert float(gardens.outdoors.float().mean()) == pytest.approx(0.5, abs=0.2)


def test_plants_are_close_to_the_camera(z_m: Tensor) -> None:
    nearest = z_m.flatten(1).amin(1)
    assert float((nearest < 1.0).float().mean()) > 0.5
    assert float((z_m < 3.0).float().mean()) > 0.25


def test_the_camera_stands_inside_the_shell_and_clear_of_plants(gardens: SceneBatch) -> None:
    assert bool(((gardens.shell_low < gardens.eye) & (gardens.eye < gardens.shell_high)).all())
    # All boxes but the last piece are leaves; that one is beds, posts and wires, which run past the camera.
    leaves = Pieces(**{name: value[:, :-1] for name, value in vars(gardens.boxes).items()})
    assert not bool(too_close(leaves, gardens.eye, 0.25).any())
    assert not bool(too_close(gardens.rounds, gardens.eye, 0.3).any())


def test_leaves_are_thin_and_many(gardens: SceneBatch) -> None:
    leaf = gardens.boxes.role == int(Role.LEAF)
    there = leaf & (gardens.boxes.half > 0).all(-1)
    assert float(there.flatten(1).sum(1).float().mean()) > 30
    assert float(gardens.boxes.half[there][:, 1].max()) < 0.006


def test_stems_stand_on_the_ground_and_fruit_is_round(gardens: SceneBatch) -> None:
    there = (gardens.rounds.half > 0).all(-1)[:, :3]
    centre, half = gardens.rounds.centre[:, :3], gardens.rounds.half[:, :3]
    stem, fruit = (there & (gardens.rounds.role[:, :3] == int(role)) for role in (Role.BARK, Role.COVER))
    assert bool(stem.any())
    assert bool(fruit.any())
    torch.testing.assert_close(centre[stem][:, 1], half[stem][:, 1])
    torch.testing.assert_close(half[fruit], half[fruit][:, :1].expand(-1, 3))


def test_they_have_the_layout_that_lets_kinds_mix(gardens: SceneBatch) -> None:
    assert gardens.boxes.half.shape == (NUM, NUM_PIECES, NUM_BOXES, 3)
    assert gardens.rounds.half.shape == (NUM, NUM_ROUND_PIECES, NUM_ROUNDS, 3)


def test_the_seed_decides(gardens: SceneBatch, z_m: Tensor) -> None:
    again, other = (
        sample_gardens(Dice(torch.Generator().manual_seed(seed), NUM, torch.device("cpu"))) for seed in (0, 1)
    )
    assert torch.equal(trace(again, (54, 72))[0].z, z_m)
    assert not torch.equal(other.eye, gardens.eye)
