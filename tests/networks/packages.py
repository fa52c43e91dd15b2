"""Stand-ins for diffusers, depth_anything_3 and moge: their calls and shapes as documented, brightness for depth."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional


class _Network:
    """What all three have in common; each call is kept for the tests to look at."""

    calls: list[dict[str, Any]]

    def __init__(self, source: str, **options: Any) -> None:
        self.source, self.options, self.calls, self.device = source, options, [], ""

    @classmethod
    def from_pretrained(cls, source: Any, **options: Any) -> Self:
        made = cls(str(source), **options)
        LOADED.append(made)
        return made

    def to(self, device: str) -> Self:
        self.device = device
        return self

    def eval(self) -> Self:
        return self


LOADED: list[Any] = []


class FakeMarigold(_Network):
    """Resizes to the processing resolution; noise from the generator stands for the diffusion."""

    def set_progress_bar_config(self, **options: Any) -> None:
        self.bar = options

    def __call__(self, image: Image.Image, *, generator: torch.Generator, **options: Any) -> SimpleNamespace:
        self.calls.append({"size": image.size, **options})
        grey = torch.from_numpy(np.asarray(image.convert("L"), np.float32) / 255)[None, None]
        scale = options["processing_resolution"] / max(image.size)
        size = [max(round(side * scale), 1) for side in grey.shape[2:]]
        depth = functional.interpolate(grey, size=size, mode="bilinear")
        noise = torch.randn(depth.shape, generator=generator, device=generator.device)
        return SimpleNamespace(prediction=(depth + 0.01 * noise).clamp(0, 1).permute(0, 2, 3, 1).numpy())


class FakeDepthAnything3(_Network):
    """(1, h, w) depth at the long side `process_res`, and a sky over the top quarter."""

    with_sky = True

    def inference(self, image: list[Any], process_res: int = 504) -> SimpleNamespace:
        (picture,) = image
        self.calls.append({"shape": picture.shape, "process_res": process_res})
        scale = process_res / max(picture.shape)
        h, w = (max(round(side * scale / 14), 1) * 14 for side in picture.shape[:2])
        grey = np.asarray(Image.fromarray(picture).convert("L").resize((w, h)), np.float32)[None]
        sky = np.zeros((1, h, w), np.float32)
        sky[:, : h // 4] = 0.9
        return SimpleNamespace(depth=1 + grey / 255, sky=sky if self.with_sky else None, is_metric=0)


class FakeMoGe(_Network):
    """(h, w) depth of the image's size, +inf in the left quarter and a bad value in a corner."""

    def infer(self, image: torch.Tensor, **options: Any) -> dict[str, torch.Tensor]:
        self.calls.append(
            {"shape": tuple(image.shape), "low": float(image.min()), "high": float(image.max()), **options}
        )
        depth = 1 + image.mean(dim=0)
        mask = torch.ones_like(depth, dtype=torch.bool)
        mask[:, : depth.shape[1] // 4] = False
        depth = torch.where(mask, depth, torch.inf)
        depth[-1, -1] = -1.0
        return {"depth": depth, "mask": mask, "points": depth[..., None].expand(-1, -1, 3), "intrinsics": torch.eye(3)}


def install(patch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    """Puts a module called `name` (and the packages above it) where `import` finds it."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        patch.setitem(sys.modules, ".".join(parts[:i]), ModuleType(".".join(parts[:i])))
    for key, value in content.items():
        setattr(sys.modules[name], key, value)


def install_fake(patch: pytest.MonkeyPatch, name: str) -> None:
    """Puts the stand-in of the foundation `name` in place."""
    LOADED.clear()
    if name == "marigold":
        install(patch, "diffusers", MarigoldDepthPipeline=FakeMarigold)
    if name == "da3":
        install(patch, "depth_anything_3.api", DepthAnything3=FakeDepthAnything3)
    if name == "moge":
        install(patch, "moge.model.v2", MoGeModel=FakeMoGe)


def make_folder(home: Path, name: str) -> Path:
    """A folder in the layout of the foundation's checkpoints; the stand-ins never read the weights."""
    weights = {
        "marigold": "unet/diffusion_pytorch_model.fp16.safetensors",
        "da3": "model.safetensors",
        "moge": "model.pt",
    }[name]
    (home / weights).parent.mkdir(parents=True, exist_ok=True)
    (home / weights).write_bytes(b"weights")
    (home / "config.json").write_text("{}")
    return home
