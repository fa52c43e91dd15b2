"""A run of the small network small enough for a test: few views of 64 × 96, any processor."""

from dataclasses import replace

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mrac import examples
from mrac.lab.train.frames import Frames
from mrac.lab.train.student.training import StudentOptions

SHAPES = (((64, 96), 1.0),)


def options(num_steps: int = 4, **changes: object) -> StudentOptions:
    recipe = StudentOptions(
        num_steps, small_batch=2, batch=2, small_shapes=SHAPES, shapes=SHAPES, num_scenes=0, warmup=0.25, average=2.0
    )
    return replace(recipe, **changes)  # type: ignore[arg-type]


def crops(seed: int, num: int) -> Tensor:
    """(num, 3, 64, 96): parts of the two photographs in the package."""
    chance = np.random.default_rng(seed)
    found = []
    for i in range(num):
        picture = Image.fromarray(examples.load(("room", "street")[i % 2]).image)
        left, upper = (float(chance.uniform(0.0, 0.5 * side)) for side in picture.size)
        box = (left, upper, left + 0.5 * picture.width, upper + 0.5 * picture.height)
        found.append(torch.from_numpy(np.array(picture.resize((96, 64), box=box))).permute(2, 0, 1).float())
    return torch.stack(found)


def frames(num: int) -> Frames:
    """`crops` to learn from."""
    names = tuple(f"crops/{i}" for i in range(num))
    return Frames(crops(0, num).to(torch.uint8), torch.zeros(num, 1, 1), torch.full((num,), 86.0), names, names)
