"""Things right before the camera, in any scene: what a hand holds up, a thin pole or wire, a leaf."""

import math

import torch

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.place import random_rotation
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import NUM_ROUNDS, Pieces, SceneBatch

_SHARE = 0.3  # of the scenes that have something before the camera
_THIN = 0.5  # of these: poles and wires


def sample_foreground(dice: Dice, scene: SceneBatch) -> Pieces:
    """One piece of up to four round bodies, 0.25 to 1.5 m from the eye of each scene and within its view."""
    distance = torch.exp(dice.between(math.log(0.25), math.log(1.5)))
    side = (dice.rand(2) - 0.5) * dice.constant((1.6, 1.1)) * scene.tan_half_fov[:, None]
    ray = torch.cat((side, torch.ones_like(side[:, :1])), 1)
    # The camera looks along the third column of its rotation; rays are in its axes.
    origin = scene.eye + distance[:, None] * (scene.rotation * ray[:, None, :]).sum(-1)
    thin = dice.chance(_THIN)[:, None, None]
    body = dice.between(dice.constant((0.02, 0.03, 0.02)), dice.constant((0.12, 0.14, 0.12)), NUM_ROUNDS, 3)
    pole = dice.between(dice.constant((0.002, 0.3, 0.002)), dice.constant((0.012, 1.5, 0.012)), NUM_ROUNDS, 3)
    half = torch.where(thin, pole, body * distance[:, None, None].clamp(0.3, 1.0))
    # Round in cross-section: both widths are the first.
    half = torch.stack((half[..., 0], half[..., 1], half[..., 0] * dice.between(0.7, 1.0, NUM_ROUNDS)), -1)
    here = dice.rand(NUM_ROUNDS) < dice.constant((1.0, 0.6, 0.4, 0.3))
    here = here & dice.chance(_SHARE, 1)
    spread = torch.where(thin, 0.5, 0.12)
    centre = (dice.rand(NUM_ROUNDS, 3) - 0.5) * spread * (torch.arange(NUM_ROUNDS, device=dice.device) > 0)[:, None]
    role = torch.where(thin[..., 0], int(Role.METAL), dice.one_of((Role.COVER, Role.COVER, Role.LEAF), NUM_ROUNDS))
    return Pieces(
        rotation=random_rotation(dice, 1),
        origin=origin[:, None],
        centre=centre[:, None],
        half=torch.where(here[..., None], half, 0.0)[:, None],
        bulge=(~thin[..., 0] & dice.chance(0.5, NUM_ROUNDS)).float()[:, None],
        role=role[:, None],
    )
