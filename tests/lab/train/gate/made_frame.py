"""Frames of a scene that is known, for tests of the learned gate's training."""

from dataclasses import replace

import numpy as np

from mrac.lab.train.gate.frames import GateFrame

H, W = 96, 128


def frame(scan: bool = False) -> GateFrame:
    """A wall four metres away with a box in front of it; the relative field is the truth's logarithm."""
    z_m = np.full((H, W), 4.0)
    z_m[:, :8] = 0.0
    z_m[30:70, 40:80] = 2.0
    image = np.dstack([(50 * z_m).astype(np.uint8)] * 3)
    field = np.log(np.where(z_m > 0, z_m, 4.0)).astype(np.float32)
    past = np.where((np.arange(H * W) % 7 == 0).reshape(H, W), 2.0 * z_m, z_m)
    return GateFrame(image, z_m, np.flatnonzero(z_m > 0), field, past if scan else None, 10.0)


def ramp() -> GateFrame:
    """Every pixel has a depth of its own, 1 to 9 m from the top left to the bottom right."""
    z_m = 1.0 + 8.0 * np.arange(H * W, dtype=np.float64).reshape(H, W) / (H * W)
    return replace(frame(), z_m=z_m, pixels=np.arange(H * W), field=np.log(z_m).astype(np.float32))


def sparse() -> GateFrame:
    """The ramp, as a lidar would have measured it: one pixel in twenty."""
    known = np.flatnonzero(np.random.default_rng(0).random(H * W) < 0.05)
    return ramp().within(known)
