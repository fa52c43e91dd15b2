"""Frames of scenes that were made up: where real depth is thin, exact depth of rooms, streets, tables and gardens."""

import torch
from torch import Tensor

from mrac.lab.train.frames import Frames
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.render import render, sample_scenes

_AT_ONCE = 64


def render_frames(num: int, size: tuple[int, int], photographs: Tensor, seed: int) -> Frames:
    """Renders `num` scenes of `size` (h, w) onto the device of `photographs`, whose patches cover some surfaces.

    Args:
        num: N.
        size: in pixels.
        photographs: (M, 3, h, w) uint8.
        seed: of everything in the scenes.

    Returns:
        `Frames` of the set `scenes`.
    """
    device = photographs.device
    generator = torch.Generator(device).manual_seed(seed)
    images, depths, focal = [], [], []
    with torch.no_grad():
        for start in range(0, num, _AT_ONCE):
            dice = Dice(generator, min(_AT_ONCE, num - start), device)
            scene = sample_scenes(dice)
            image, z = render(dice, scene, size, photographs)
            images.append((image * 255.0).round().to(torch.uint8))
            depths.append(z[:, 0])
            focal.append(size[1] / (2.0 * scene.tan_half_fov))
    names = tuple(f"scenes/{i}" for i in range(num))
    return Frames(torch.cat(images), torch.cat(depths), torch.cat(focal), names, names)
