"""Things rest where they should: inside bounds, clear of the camera, on what carries them."""

import math

import pytest
import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.pieces import Body, Piece
from mrac.lab.train.synthetic.scenes.place import (
    keep_within,
    random_rotation,
    sizes,
    stand,
    too_close,
    top_height,
    without,
)
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import Pieces
from mrac.lab.train.synthetic.scenes.table_tops import sample_table_tops


def roll(num_images: int, seed: int = 0) -> Dice:
    return Dice(torch.Generator().manual_seed(seed), num_images, torch.device("cpu"))


def corners(pieces: Pieces) -> tuple[Tensor, Tensor]:
    """World bounds of every part, NaN where there is none; each (B, K, N, 3)."""
    signs = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * 3)
    local = pieces.centre[..., None, :] + signs * pieces.half[..., None, :]
    world = torch.einsum("bkij,bknsj->bknsi", pieces.rotation, local) + pieces.origin[:, :, None, None]
    absent = (pieces.half <= 0).any(-1)[..., None]
    low, high = world.amin(3), world.amax(3)
    return low.masked_fill(absent, torch.nan), high.masked_fill(absent, torch.nan)


def test_pieces_are_moved_inside_their_bounds_and_stay_at_their_height() -> None:
    dice = roll(32)
    which = dice.one_of((Piece.STACK, Piece.MONITOR, Piece.LAPTOP, Piece.GADGETS), 5)
    origin = dice.between(-3.0, 3.0, 5, 3)
    pieces = stand(dice, which, sizes(dice, which), origin, dice.between(-math.pi, math.pi, 5))
    low, high = torch.tensor([-1.0, 0.0, -0.8]), torch.tensor([1.0, 0.0, 0.8])
    kept = keep_within(pieces, low.expand(32, 5, 3), high.expand(32, 5, 3))
    least, most = corners(kept)
    for axis in (0, 2):
        assert float(least[..., axis].nan_to_num(0.0).min()) >= float(low[axis]) - 1e-5
        assert float(most[..., axis].nan_to_num(0.0).max()) <= float(high[axis]) + 1e-5
    assert torch.equal(kept.origin[..., 1], origin[..., 1])


def test_a_piece_too_large_for_its_bounds_is_narrowed_and_keeps_its_height() -> None:
    dice = roll(1)
    which = torch.tensor([[int(Piece.BARE_TABLE)]])
    size = torch.tensor([[[2.0, 1.0, 1.0]]])
    pieces = stand(dice, which, size, torch.tensor([[[5.0, 0.0, 0.0]]]), torch.zeros(1, 1))
    bound = torch.tensor([[[0.5, 0.0, 0.5]]])
    low, high = corners(keep_within(pieces, -bound, bound))
    torch.testing.assert_close(low[0, 0, 0], torch.tensor([-0.5, 0.95, -0.25]))
    torch.testing.assert_close(high[0, 0, 0], torch.tensor([0.5, 1.0, 0.25]))


def test_what_is_near_the_camera_is_found_and_taken_away() -> None:
    dice = roll(1)
    which = torch.full((1, 2), int(Piece.BARE_TABLE))
    size = torch.ones(1, 2, 3)
    origin = torch.tensor([[[0.0, 0.0, 0.7], [0.0, 0.0, 0.8]]])
    pieces = stand(dice, which, size, origin, torch.zeros(1, 2))
    close = too_close(pieces, torch.tensor([[0.0, 0.97, 0.0]]), 0.25)
    assert close.tolist() == [[True, False]]
    assert (without(pieces, close).half > 0).any(-1).any(-1).tolist() == [[False, True]]


@pytest.mark.parametrize("piece", [Piece.TABLE, Piece.DESK, Piece.OPEN_DESK, Piece.BARE_TABLE, Piece.CUPBOARD])
def test_the_free_top_is_where_the_template_says(piece: Piece) -> None:
    dice = roll(4)
    which = torch.full((4, 1), int(piece))
    size = sizes(dice, which)
    pieces = stand(dice, which, size, torch.zeros(4, 1, 3), torch.zeros(4, 1))
    _, high = corners(pieces)
    gap = (high[..., 1] - top_height(which, size)[..., None]).abs().nan_to_num(9.0)
    assert float(gap.amin(2).max()) < 1e-5


def test_desk_clutter_rests_on_the_desk() -> None:
    scene = sample_table_tops(roll(64))
    low, high = corners(scene.boxes)
    top = high[:, 0, 0, 1]
    bottom = low[:, 1:6, :, 1].flatten(1)
    lowest = bottom.nan_to_num(9.0).amin(1)
    there = lowest < 9
    torch.testing.assert_close(lowest[there], top[there], atol=1e-4, rtol=0)
    for axis in (0, 2):
        assert float((low[:, :1, :1, axis] - low[:, 1:6, :, axis]).nan_to_num(-1.0).max()) < 1e-3
        assert float((high[:, 1:6, :, axis] - high[:, :1, :1, axis]).nan_to_num(-1.0).max()) < 1e-3


def test_furniture_stays_between_the_walls_and_on_the_floor() -> None:
    scene = sample_rooms(roll(64))
    low, high = corners(scene.boxes)
    low, high = low[:, :7], high[:, :7]
    for axis in (0, 2):
        assert float((scene.shell_low[:, None, None, axis] - low[..., axis]).nan_to_num(-1.0).max()) < 1e-3
        assert float((high[..., axis] - scene.shell_high[:, None, None, axis]).nan_to_num(-1.0).max()) < 1e-3
    assert float(low[..., 1].nan_to_num(9.0).amin()) == pytest.approx(0.0, abs=1e-5)


def test_random_rotations_are_rotations() -> None:
    rotation = random_rotation(roll(64), 5)
    assert rotation.shape == (64, 5, 3, 3)
    # A dozen float32 roundings of 2^-24 in each entry, three products to a sum.
    identity = torch.eye(3).expand(64, 5, 3, 3)
    torch.testing.assert_close(rotation @ rotation.transpose(-1, -2), identity, atol=32 * 2.0**-24, rtol=0)
    torch.testing.assert_close(torch.linalg.det(rotation), torch.ones(64, 5), atol=64 * 2.0**-24, rtol=0)
    assert torch.equal(rotation, random_rotation(roll(64), 5))


def test_every_orientation_is_as_likely() -> None:
    # Haar measure: every entry has mean 0 and variance 1/3, as a coordinate of a point on the sphere.
    rotation = random_rotation(roll(4000), 5).flatten(0, 1)
    torch.testing.assert_close(rotation.mean(0), torch.zeros(3, 3), atol=0.02, rtol=0)
    torch.testing.assert_close(rotation.square().mean(0), torch.full((3, 3), 1 / 3), atol=0.02, rtol=0)


def test_bodies_that_are_nothing_take_no_room() -> None:
    dice = roll(2)
    which = torch.full((2, 1), int(Body.NOTHING))
    pieces = stand(dice, which, sizes(dice, which, rounds=True), torch.zeros(2, 1, 3), torch.zeros(2, 1), rounds=True)
    assert float(pieces.half.abs().max()) == 0.0
