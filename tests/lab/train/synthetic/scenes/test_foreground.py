"""Things before the camera: within reach, within view, in a share of the scenes, and met by the rays."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.cast import NEAR_CLIP_M
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.foreground import sample_foreground
from mrac.lab.train.synthetic.scenes.render import sample_scenes, trace
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import NUM_ROUND_PIECES, NUM_ROUNDS, Pieces, SceneBatch
from mrac.lab.train.synthetic.scenes.streets import sample_streets

NUM, SIZE = 96, (72, 96)


def roll(seed: int = 0, num_images: int = NUM) -> Dice:
    return Dice(torch.Generator().manual_seed(seed), num_images, torch.device("cpu"))


def sampled(seed: int = 0, num_images: int = NUM) -> tuple[SceneBatch, Pieces]:
    dice = roll(seed, num_images)
    scene = sample_streets(dice)
    return scene, sample_foreground(dice, scene)


def present(pieces: Pieces) -> Tensor:
    """(B,) whether anything of them is there."""
    return (pieces.half > 0).all(-1).flatten(1).any(1)


def without_others(scene: SceneBatch, pieces: Pieces) -> Tensor:
    """(B, H, W) depth with these round bodies over the bare ground."""
    none = replace(scene.boxes, half=torch.zeros_like(scene.boxes.half))
    return trace(replace(scene, boxes=none, rounds=pieces, outdoors=torch.ones_like(scene.outdoors)), SIZE)[0].z


def test_a_share_of_the_scenes_has_something() -> None:
    scene, pieces = sampled(num_images=1000)
    assert pieces.half.shape == (1000, 1, NUM_ROUNDS, 3)
    assert float(present(pieces).float().mean()) == pytest.approx(0.3, abs=0.05)
    assert bool((pieces.half[:, 0, 0] > 0).all(-1)[present(pieces)].all()), "the first body always"
    assert not bool(pieces.half[~present(pieces)].any())
    assert scene.rounds.half.shape[1] == NUM_ROUND_PIECES, "the scene itself is left alone"


def test_it_is_an_arm_s_length_ahead_and_within_view() -> None:
    scene, pieces = sampled()
    # Into the camera's axes: the rotation's transpose.
    offset = torch.einsum("bij,bi->bj", scene.rotation, pieces.origin[:, 0] - scene.eye)
    z = offset[:, 2]
    assert float(z.min()) >= 0.25 - 1e-4
    assert float(z.max()) <= 1.5 + 1e-4
    assert float(z.min()) < 0.4
    assert float(z.max()) > 1.2
    across, down = ((offset[:, i] / z).abs() / scene.tan_half_fov for i in (0, 1))
    assert float(across.max()) < 1
    assert float(down.max()) < SIZE[0] / SIZE[1], "of a picture four wide and three high"


def test_it_is_seen_and_nearer_than_one_and_a_half_metres() -> None:
    scene, pieces = sampled()
    z, bare = without_others(scene, pieces), without_others(scene, replace(pieces, half=torch.zeros_like(pieces.half)))
    changed = z != bare
    assert not bool(z.isnan().any())
    assert float(z.min()) >= NEAR_CLIP_M
    there = present(pieces)
    assert not bool(changed[~there].any())
    assert float((z.flatten(1).amin(1) < 1.5)[there].float().mean()) > 0.9
    assert bool((z <= bare).all())
    share = changed[there].float().mean(dim=(1, 2))
    assert 0.005 < float(share.mean()) < 0.2, "something to see, and something behind it"


def test_some_are_thin_poles_and_some_are_bodies() -> None:
    _, pieces = sampled(num_images=400)
    half = pieces.half[present(pieces), 0, 0]
    thin = half[:, 1] >= 0.3
    assert float(thin.float().mean()) == pytest.approx(0.5, abs=0.15)
    assert float(half[thin][:, (0, 2)].max()) <= 0.012
    assert float(half[~thin].max()) <= 0.14


@pytest.mark.parametrize("seed", [0, 1])
def test_scenes_of_every_kind_get_it(seed: int) -> None:
    scene = sample_scenes(roll(seed, 48))
    assert scene.rounds.half.shape[1] == NUM_ROUND_PIECES + 1
    last = Pieces(**{name: value[:, -1:] for name, value in vars(scene.rounds).items()})
    there = present(last)
    assert bool(there.any())
    assert not bool(there.all())
    z = trace(scene, SIZE)[0].z
    assert not bool(z.isnan().any())
    assert float(z.min()) > 0
    assert bool(z[~scene.outdoors].isfinite().all())
    assert float((z.flatten(1).amin(1) < 1.5)[there].float().mean()) > 0.9


def test_the_seed_decides() -> None:
    first, again, other = (sampled(seed)[1] for seed in (3, 3, 4))
    for name, value in vars(first).items():
        assert torch.equal(value, getattr(again, name))
    assert not torch.equal(first.origin, other.origin)


def test_it_follows_the_camera_into_a_room() -> None:
    dice = roll(5)
    scene = sample_rooms(dice)
    turned = replace(scene, eye=scene.eye + torch.tensor([1.0, 0.0, -2.0]))
    here, there = (sample_foreground(roll(6), each) for each in (scene, turned))
    torch.testing.assert_close(there.origin - here.origin, torch.tensor([1.0, 0.0, -2.0]).expand(NUM, 1, 3))
    assert torch.equal(here.half, there.half)
