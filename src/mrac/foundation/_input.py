"""Resizes and normalises an image as a checkpoint's `preprocessor_config.json` states; numpy and PIL alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError

# The rules of the networks grow the long side of a panorama without bound (50 megapixels at 100 : 1 would become
# 270,000 tokens). Eight times the 518 × 518 that Depth Anything was trained on excludes no camera.
MAX_PIXELS = 2**21


@dataclass(frozen=True)
class Settings:
    """Input size and normalisation of a network.

    Attributes:
        size: (height, width) in pixels that the resize rule aims at.
        keep_aspect: whether both sides are scaled by the same factor.
        multiple: each side becomes a multiple of this.
        resample: number of PIL's filter.
        mean, std: per RGB channel, of values in [0, 1].
    """

    size: tuple[int, int]
    keep_aspect: bool
    multiple: int
    resample: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def override(self, stated: Mapping[str, Any], where: str) -> "Settings":
        """These settings, replaced by those that a `preprocessor_config.json` states.

        Raises:
            ContractError: a value is malformed, or asks for an unsupported step.
        """
        for step, done in (("do_resize", True), ("do_rescale", True), ("do_normalize", True)):
            if stated.get(step, done) is not done:
                raise ContractError(f"{where}: {step} is {stated[step]!r}; only {done} is supported")
        try:
            multiple = float(stated.get("ensure_multiple_of") or self.multiple)
            changed = Settings(
                size=_height_width(stated.get("size", self.size)),
                keep_aspect=bool(stated.get("keep_aspect_ratio", self.keep_aspect)),
                multiple=int(multiple if multiple >= 1 else self.multiple),  # transformers' ZoeDepth writes 1/32 for 32
                resample=int(stated.get("resample", self.resample)),
                mean=_channels(stated.get("image_mean", self.mean)),
                std=_channels(stated.get("image_std", self.std)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ContractError(f"{where}: {error!r}; size, image_mean or image_std is malformed") from None
        if min(*changed.size, changed.multiple) < 1 or min(changed.std) <= 0 or changed.resample not in range(6):
            raise ContractError(f"{where}: sizes and image_std must be > 0, resample one of PIL's filters 0 to 5")
        return changed


def _height_width(size: Any) -> tuple[int, int]:
    if isinstance(size, Mapping):
        return int(size["height"]), int(size["width"])
    height, width = (size, size) if isinstance(size, int) else size
    return int(height), int(width)


def _channels(values: Any) -> tuple[float, float, float]:
    red, green, blue = [values] * 3 if isinstance(values, int | float) else values
    return float(red), float(green), float(blue)


def nearest_size(shape: tuple[int, int], settings: Settings) -> tuple[int, int]:
    """The (h, w) for an image of `shape` (H, W) by transformers' rule: scaled as little as possible, then rounded."""
    scale_h, scale_w = settings.size[0] / shape[0], settings.size[1] / shape[1]
    if settings.keep_aspect:
        scale_h = scale_w = scale_w if abs(1 - scale_w) < abs(1 - scale_h) else scale_h
    return _bounded(
        _rounded(scale_h * shape[0], settings.multiple), _rounded(scale_w * shape[1], settings.multiple), settings
    )


def covering_size(shape: tuple[int, int], settings: Settings) -> tuple[int, int]:
    """The (h, w) by the rule of Depth Anything's own repository: both sides at least the size, then rounded."""
    scale = max(settings.size[0] / shape[0], settings.size[1] / shape[1])
    sides = [
        _rounded(scale * side, settings.multiple)
        if _rounded(scale * side, settings.multiple) >= least
        else math.ceil(scale * side / settings.multiple) * settings.multiple
        for side, least in zip(shape, settings.size, strict=True)
    ]
    return _bounded(sides[0], sides[1], settings)


def _rounded(side: float, multiple: int) -> int:
    return max(round(side / multiple), 1) * multiple


def _bounded(height: int, width: int, settings: Settings) -> tuple[int, int]:
    if height * width <= MAX_PIXELS:
        return height, width
    multiple = settings.multiple
    # The short side is computed first: at 1000 : 1 it cannot shrink below one multiple, so the long side shrinks more.
    short, long = sorted((height, width))
    short = max(int(short * math.sqrt(MAX_PIXELS / (height * width))) // multiple, 1) * multiple
    long = max(min(int(long * math.sqrt(MAX_PIXELS / (height * width))), MAX_PIXELS // short) // multiple, 1) * multiple
    return (short, long) if height <= width else (long, short)


def pil_resized(image: ImageArray, size: tuple[int, int], settings: Settings) -> FloatArray:
    """An (H, W, 3) uint8 image at `size` (h, w) through PIL, antialiased and rounded to 8 bits: float32 in 0 to 255."""
    resized = Image.fromarray(image).resize((size[1], size[0]), Image.Resampling(settings.resample))
    return np.asarray(resized, dtype=np.float32)


def normalised(pixels: FloatArray, settings: Settings) -> FloatArray:
    """(h, w, 3) values in 0 to 255 as the normalised (3, h, w) float32 input of a network."""
    scaled = (pixels.astype(np.float64) * (1 / 255)).astype(np.float32)  # bit for bit as transformers does it
    unit = (scaled - np.asarray(settings.mean, np.float32)) / np.asarray(settings.std, np.float32)
    return np.ascontiguousarray(unit.transpose(2, 0, 1))
