"""Renders the frames of `mrac.examples`: a made-up room and a made-up street, with readings some of which are wrong.

    python -m mrac.lab.example_frames --out src/mrac/examples/frames

Everything in them is ours: shapes and textures are drawn at random from a fixed seed, and no photograph is used. The
seeds were chosen out of the first thirty of each kind: of scenes that look well and on which the default does well. The
embedded network was trained on pictures of the same renderer, of other seeds, among its data. So the frames show how
things are used, not how good they are.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.conventions import FloatArray, ImageArray
from mrac.examples.example import Example
from mrac.examples.shipped import FRAMES, write_shipped
from mrac.lab.placement.base import AnchorPlacement
from mrac.lab.placement.beams import Beams
from mrac.lab.placement.random import Random
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.render import render
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import SceneBatch
from mrac.lab.train.synthetic.scenes.streets import sample_streets
from mrac.outliers.base import Outliers, Truth
from mrac.outliers.near import Near
from mrac.outliers.uniform import Uniform

SIZE: Final = (480, 640)
_RAYS: Final = 3  # squared, for every pixel: an odd number, so that one of them goes through its centre
_DISPLAY: Final = 2.2  # the renderer's display curve; light is averaged before it
_LICENCE: Final = "Apache-2.0, as this package: rendered by the mrac developers, no photograph or data of others in it"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that one frame is made of.

    Attributes:
        title: what is seen.
        sampler: of the scene.
        seed: of scene, readings and faults.
        max_range_m: of the sensor: there are no readings beyond it.
        placement: of the readings.
        num: of readings.
        outliers: the family of faults.
        share: of wrong readings.
        fault: what is wrong with them, in words.
        depth_scale: stored units per metre of the depth PNG.
    """

    title: str
    sampler: Callable[[Dice], SceneBatch]
    seed: int
    max_range_m: float
    placement: AnchorPlacement
    num: int
    outliers: Outliers
    share: float
    fault: str
    depth_scale: float


RECIPES: Final = {
    "room": Recipe(
        title="A room with a desk, a chair and a person: rendered",
        sampler=sample_rooms,
        seed=12,
        max_range_m=10.0,
        placement=Random(),
        num=60,
        outliers=Near(),
        share=0.25,
        fault="too near, as by multipath: depth times 0.2 to 0.6",
        depth_scale=1000.0,
    ),
    "street": Recipe(
        title="A street with cars: rendered",
        sampler=sample_streets,
        seed=15,
        max_range_m=80.0,
        placement=Beams(16),
        num=96,
        outliers=Uniform(),
        share=0.25,
        fault="spurious returns: anywhere between the nearest and the farthest thing in the image",
        depth_scale=256.0,
    ),
}


def dice_of(recipe: Recipe) -> Dice:
    """What settles the recipe's scene and the look of its surfaces."""
    return Dice(torch.Generator().manual_seed(recipe.seed), 1, torch.device("cpu"))


def photograph(recipe: Recipe) -> tuple[ImageArray, FloatArray, Camera]:
    """Picture, depth (NaN for the sky) and camera of the recipe's scene."""
    H, W = SIZE
    dice = dice_of(recipe)
    with torch.no_grad():
        scene = recipe.sampler(dice)
        fine, z = render(dice, scene, (H * _RAYS, W * _RAYS), None)
    light = fine[0].movedim(0, 2).numpy().reshape(H, _RAYS, W, _RAYS, 3) ** _DISPLAY
    image = np.rint(light.mean((1, 3)) ** (1 / _DISPLAY) * 255).astype(np.uint8)
    depth_m = z[0, 0].numpy()[_RAYS // 2 :: _RAYS, _RAYS // 2 :: _RAYS]
    f_px = round(float(W / (2 * scene.tan_half_fov[0])), 3)
    camera = Camera(f_px, f_px, (W - 1) / 2, (H - 1) / 2, W, H)
    return image, np.where(np.isfinite(depth_m), depth_m, np.nan), camera


def make(name: str) -> Example:
    """The frame of a recipe."""
    recipe = RECIPES[name]
    image, depth_m, camera = photograph(recipe)
    rng = np.random.default_rng(recipe.seed)
    valid = depth_m <= recipe.max_range_m
    uv_px = recipe.placement(valid, recipe.num, rng)
    z_m = recipe.placement.read(depth_m, valid, uv_px)
    within = np.where(valid, depth_m, np.nan)
    truth = Truth(uv_px=uv_px, z_m=z_m, truth_m=within, max_range_m=recipe.max_range_m)
    said = recipe.outliers(truth, recipe.share, rng)
    # What 16 bits cannot hold, the far end of a street, is left without truth.
    held = np.where(depth_m * recipe.depth_scale <= 65535, depth_m, np.nan).astype(np.float32)
    return Example(
        name=name,
        title=recipe.title,
        image=image,
        anchors=Anchors(uv_px, said.z_m),
        wrong=said.wrong,
        fault=recipe.fault,
        depth_m=held,
        camera=camera,
        licence=_LICENCE,
    )


def main() -> None:
    """Writes the files of every recipe."""
    parser = argparse.ArgumentParser(description="Render the frames of mrac.examples.")
    parser.add_argument("--out", type=Path, default=FRAMES, help="folder for the files (default: the package's own)")
    folder = parser.parse_args().out
    for name, recipe in RECIPES.items():
        write_shipped(make(name), folder, recipe.depth_scale)


if __name__ == "__main__":
    main()
