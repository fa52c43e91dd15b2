"""How good a network's log depth is on frames it did not see: the line through a few pixels, then AbsRel."""

import math

import torch
from torch.nn import functional

from mrac.foundation.embedded import input_size
from mrac.gpu.network import DepthNetwork
from mrac.lab.train.foundation.training import upsample
from mrac.lab.train.frames import Frames


@torch.no_grad()
def validate(network: DepthNetwork, frames: Frames, num_anchors: int = 50, seed: int = 0) -> float:
    """Mean AbsRel over `frames` after the least-squares line through `num_anchors` random pixels in log depth.

    Args:
        network: in evaluation mode.
        frames: those without any reading do not count.
        num_anchors: per frame.
        seed: of the pixels.

    Returns:
        AbsRel, or NaN where no frame has a reading.
    """
    generator = torch.Generator().manual_seed(seed)
    h, w = frames.images.shape[2:]
    scores = []
    for image, z_m in zip(frames.images, frames.z_m, strict=True):
        measured = (z_m > 0) & z_m.isfinite()
        known = measured.nonzero()
        if not len(known):
            continue
        resized = functional.interpolate(image[None].float(), size=input_size(h, w), mode="bicubic", antialias=True)
        predicted = upsample(network(resized.clamp(0, 255)), (h, w))[0].double()
        rows, columns = known[torch.randperm(len(known), generator=generator)[:num_anchors].to(known.device)].T
        x, y = predicted[rows, columns], z_m[rows, columns].double().log()
        centred = x - x.mean()
        slope = (centred * (y - y.mean())).sum() / (centred * centred).sum().clamp(min=1e-9)
        fitted = torch.exp(slope * (predicted - x.mean()) + y.mean())
        scores.append(((fitted - z_m).abs() / z_m)[measured].mean())
    return float(torch.stack(scores).mean()) if scores else math.nan
