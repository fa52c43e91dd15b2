"""Foundations that fail, under training readings: a surface that the network misses, or a field wrong at large."""

from typing import Final

import numpy as np
from scipy import ndimage

from mrac.conventions import FloatArray
from mrac.lab.foundation_faults import FAULTS
from mrac.lab.train.gate.frames import GateFrame
from mrac.types import RelativeDepth

# Those that leave something of the scene: what contradicts the readings altogether is not used at all.
_FAILING: Final = ("blurred", "quantised", "smooth_noise", "upside_down", "other_image", "ramp_right", "ramp_down")


def failing(frame: GateFrame, rng: np.random.Generator) -> FloatArray:
    """The relative field as a failing foundation would give it, in part: mixed with the field itself."""
    field = RelativeDepth(frame.field, "log_depth")
    # Mirrored, a field is one of another place of the same kind: streets have their sky above, rooms their floor below.
    other = RelativeDepth(np.ascontiguousarray(frame.field[:, ::-1]), "log_depth")
    worse = FAULTS[_FAILING[int(rng.integers(len(_FAILING)))]](field, other, rng).values
    share = np.float32(rng.uniform(0.3, 1.0))
    return np.asarray(share * worse + (1.0 - share) * frame.field, np.float32)


def with_fault(frame: GateFrame, rng: np.random.Generator) -> FloatArray:
    """The relative field, a part of it moved by a factor: more often too far, as when a near surface is missed."""
    H, W = frame.field.shape
    v, u = np.mgrid[0:H, 0:W]
    kind, side = int(rng.integers(3)), min(H, W)
    if kind == 0:  # along one side of the image
        angle = rng.uniform(0.0, 2.0 * np.pi)
        along = np.cos(angle) * (2.0 * u / W - 1.0) + np.sin(angle) * (2.0 * v / H - 1.0)
        part = along > np.quantile(along[::8, ::8], 1.0 - rng.uniform(0.05, 0.25))
    else:
        v0, u0 = np.unravel_index(int(frame.pixels[rng.integers(frame.pixels.size)]), (H, W))
        part = (u - u0) ** 2 + (v - v0) ** 2 < (rng.uniform(0.12, 0.4) * side) ** 2
        if kind == 2:  # one surface only
            part &= np.abs(frame.field - frame.field[v0, u0]) < 0.12
    by = rng.choice([-1.0, 1.0], p=[0.35, 0.65]) * rng.uniform(0.15, 1.0)
    soft = ndimage.gaussian_filter(part.astype(np.float32), rng.uniform(0.004, 0.02) * side)
    return np.asarray(frame.field + np.float32(by) * soft, np.float32)
