"""A training run small enough for a test: a handful of frames, a few steps, any processor."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mrac.gpu.network import NetworkOptions
from mrac.lab.train.foundation.recipe import FoundationOptions, Phase
from mrac.lab.train.frames import Frames

SIZE = (64, 96)


def options(num_steps: int = 8, **changes: object) -> FoundationOptions:
    phases = (Phase(num_steps, 2, ((SIZE, 1.0),)),)
    tiny = FoundationOptions(phases=phases, num_scenes=0, warmup=2)
    return replace(tiny, **changes)  # type: ignore[arg-type]


def narrow(num_steps: int = 8, **changes: object) -> FoundationOptions:
    """With the smallest encoder and next to no decoder."""
    return options(num_steps, network=NetworkOptions(0, (16, 16, 16, 16, 8), 1), **changes)


def floor(H: int, W: int, seed: int) -> tuple[Tensor, Tensor]:
    """(3, H, W) uint8 and (H, W) metres: a floor that recedes at its own slope, dim where it is far."""
    rng = np.random.default_rng(seed)
    z = 1.0 / (rng.uniform(0.1, 0.3) + rng.uniform(0.3, 0.9) * np.linspace(0, 1, H))[:, None] * np.ones((H, W))
    image = 255 / (0.5 + z)[None] * rng.uniform(0.5, 1, (3, 1, 1)) + rng.uniform(0, 20, (3, H, W))
    return torch.from_numpy(np.clip(image, 0, 255).astype(np.uint8)), torch.from_numpy(z.astype(np.float32))


def frames(num: int = 4, set_name: str = "a", size: tuple[int, int] = SIZE) -> Frames:
    images, depths = zip(*(floor(*size, seed) for seed in range(num)), strict=True)
    names = tuple(f"{set_name}/{i}" for i in range(num))
    return Frames(torch.stack(images), torch.stack(depths), torch.full((num,), 0.9 * size[1]), names, names)


def write_pack(folder: Path, num: int = 6, size: tuple[int, int] = SIZE, set_name: str = "toy") -> Path:
    """A folder with a manifest as `mrac train foundation --data` takes it; depth in millimetres, a scene per frame."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["set,id,scene,rgb,depth,depth_scale,depth_offset"]
    for i in range(num):
        image, z = floor(*size, i)
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(folder / f"{i}.png")
        Image.fromarray((z.numpy() * 1000).astype(np.uint16)).save(folder / f"{i}_depth.png")
        rows.append(f"{set_name},{i},room_{i},{i}.png,{i}_depth.png,0.001,0")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n")
    return folder
