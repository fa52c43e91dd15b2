"""Where a sensor's training readings lie: over the whole image, or in the patterns of real sensors."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mrac.conventions import BoolArray
from mrac.lab.train.gate.frames import GateFrame

_LEAST: Final = 12  # pixels that a pattern must leave; with fewer, readings lie over the whole image
_WHOLE: Final = 0.55  # of the scenes


def choose_pixels(frame: GateFrame, rng: np.random.Generator) -> NDArray[np.intp]:
    """(P,) flat indices of the frame's pixels that readings may lie at: all of them, or those in a sensor's pattern."""
    if rng.random() < _WHOLE:
        return frame.pixels
    pattern = _PATTERNS[int(rng.integers(len(_PATTERNS)))]
    chosen = frame.pixels[pattern(frame, rng)]
    return chosen if chosen.size >= _LEAST else frame.pixels


def _beams(frame: GateFrame, rng: np.random.Generator) -> BoolArray:
    """One row of a laser scanner, or up to sixteen; a truth that is sparse needs a few rows for one."""
    v, _ = np.unravel_index(frame.pixels, frame.z_m.shape)
    height = frame.z_m.shape[0]
    half = 0 if frame.pixels.size > 0.3 * frame.z_m.size else 3
    num = int(rng.choice([1, 1, 1, 2, 4, 16]))
    rows = rng.uniform(0.1, 0.95) * height if num == 1 else np.linspace(0.15, 0.9, num) * height
    near = v[np.abs(v[:, None] - np.atleast_1d(rows)).argmin(axis=0)]  # rows that have a truth
    return np.asarray((np.abs(v[:, None] - near) <= half).any(axis=1))


def _region(frame: GateFrame, rng: np.random.Generator) -> BoolArray:
    """A corner, a half or any other part of the image."""
    v, u = np.unravel_index(frame.pixels, frame.z_m.shape)
    H, W = frame.z_m.shape
    height, width = rng.choice([0.3, 0.5, 1.0], 2) if rng.random() < 0.6 else rng.uniform(0.15, 1.0, 2)
    top, left = rng.random() * (1.0 - height), rng.random() * (1.0 - width)
    if rng.random() < 0.5:  # at the border
        top, left = (round(top / max(1.0 - height, 1e-9)) * (1.0 - height)), round(rng.random()) * (1.0 - width)
    return np.asarray((v >= top * H) & (v <= (top + height) * H) & (u >= left * W) & (u <= (left + width) * W))


def _range(frame: GateFrame, rng: np.random.Generator) -> BoolArray:
    """What is nearer than the reach of a short-range sensor."""
    z_m = frame.z_m.ravel()[frame.pixels]
    return np.asarray(z_m <= np.quantile(z_m, rng.uniform(0.25, 0.8)))


def _texture(frame: GateFrame, rng: np.random.Generator) -> BoolArray:
    """Corners and edges, as structure from motion finds its points."""
    grey = frame.image.astype(np.float32).mean(axis=2)
    strength = ndimage.gaussian_gradient_magnitude(grey, rng.uniform(1.0, 2.5)).ravel()[frame.pixels]
    return np.asarray(strength >= np.quantile(strength, rng.uniform(0.7, 0.97)))


_PATTERNS: Final[tuple[Callable[[GateFrame, np.random.Generator], BoolArray], ...]] = (
    _beams,
    _beams,
    _region,
    _region,
    _range,
    _texture,
)
