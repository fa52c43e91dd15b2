"""Readings of past frames: where they are now, and how far they can still be trusted."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mrac.anchors.readings import Anchors, joined
from mrac.camera import Camera
from mrac.conventions import BoolArray, FloatArray, in_image
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M
from mrac.video.motion import Motion

_OWN_STD: Final = 0.005  # of log depth: of a reading whose sensor states nothing
_MAX_STD: Final = 0.25  # of log depth, from which a reading tells nothing that a foundation does not


@dataclass(frozen=True, eq=False)
class Carried:
    """B readings of past frames, as they are in the last one.

    Attributes:
        uv_px: (B, 2).
        z_m: (B,) > 0.
        log_var: (B,) variance of log depth, growing with every frame.
    """

    uv_px: FloatArray
    z_m: FloatArray
    log_var: FloatArray

    @classmethod
    def none(cls) -> Self:
        """No readings."""
        return cls(np.zeros((0, 2)), np.zeros(0), np.zeros(0))

    @classmethod
    def of(cls, anchors: Anchors, keep: BoolArray) -> Self:
        """Those of K anchors that a gate kept."""
        z_m = anchors.z_m[keep]
        stated = 0.0 if anchors.sigma_m is None else anchors.sigma_m[keep] / z_m
        return cls(anchors.uv_px[keep], z_m, np.broadcast_to(_OWN_STD**2 + stated**2, z_m.shape))

    def __len__(self) -> int:
        return self.z_m.size

    def take(self, which: BoolArray | NDArray[np.intp]) -> Self:
        """A subset."""
        return type(self)(self.uv_px[which], self.z_m[which], self.log_var[which])

    def joined(self, others: "Carried") -> Self:
        """These and then the others."""
        pairs = ((self.uv_px, others.uv_px), (self.z_m, others.z_m), (self.log_var, others.log_var))
        return type(self)(*(np.concatenate(pair) for pair in pairs))

    def moved(self, motion: Motion, camera: Camera, depth_m: FloatArray, step_var: float) -> Self:
        """The readings as they are after a motion of the camera; those that left the image are gone.

        Args:
            motion: from the last frame to this one.
            camera: of both.
            depth_m: (H, W) of the last frame: where it varies, an error of position is one of depth.
            step_var: by which the variance of log depth grows.
        """
        if not len(self):
            return self
        H, W = depth_m.shape
        log_depth = np.log(depth_m[_pixels(self.uv_px, (H, W))])
        aside = motion.error_px * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        around = [np.log(depth_m[_pixels(self.uv_px + step, (H, W))]) - log_depth for step in aside]
        edge_var = np.mean(np.square(around), axis=0)
        uv_px, z_m = motion.moved(camera, self.uv_px, self.z_m)
        log_var = self.log_var + step_var + edge_var
        seen = in_image(uv_px, (W, H)) & (z_m > MIN_DEPTH_M) & (z_m < MAX_DEPTH_M) & (log_var < _MAX_STD**2)
        return type(self)(uv_px, z_m, log_var).take(seen)

    def shifted(self, change: FloatArray) -> Self:
        """The same with log depth changed, by (B,)."""
        return type(self)(self.uv_px, self.z_m * np.exp(change), self.log_var)

    def apart_from(self, uv_px: FloatArray, shape: tuple[int, int]) -> Self:
        """Those in other pixels than (K, 2) positions: a reading of this frame stands for its pixel alone."""
        inside = uv_px[in_image(uv_px, (shape[1], shape[0]))]
        taken = np.zeros(shape, np.bool_)
        taken[_pixels(inside, shape)] = True
        return self.take(~taken[_pixels(self.uv_px, shape)])

    def thinned(self, most: int, shape: tuple[int, int]) -> Self:
        """At most `most` of them, the most certain of every part of the image."""
        if not len(self):
            return self
        H, W = shape
        side = max(1.0, (H * W / (2.0 * max(most, 1))) ** 0.5)
        row, column = (self.uv_px[:, ::-1] // side).astype(np.intp).T
        cell = row * (int(W / side) + 2) + column
        # By position where variances are equal: the order in which readings came must not matter.
        order = np.lexsort((*self.uv_px.T, self.log_var, cell))
        _, first = np.unique(cell[order], return_index=True)
        best = order[first]
        return self.take(best[np.argsort(self.log_var[best], kind="stable")][:most])


def with_carried(anchors: Anchors, carried: Carried, common_var: float) -> Anchors:
    """This frame's readings, and the carried ones after them with their deviations.

    The stages take errors as independent. B readings with a common error would then outvote this frame's own; with B
    times its variance added to each, all together tell the level as well as one reading with that error, and their
    shape still counts where no reading of this frame is near.

    Args:
        anchors: K of this frame.
        carried: B of frames before.
        common_var: of the error of log depth that the carried readings share.
    """
    if not len(carried):
        return anchors
    sigma_m = carried.z_m * np.sqrt(carried.log_var + len(carried) * common_var)
    return joined([anchors, Anchors(carried.uv_px, carried.z_m, sigma_m)])


def _pixels(uv_px: FloatArray, shape: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column of the pixels of (K, 2) positions, at the border those beyond it."""
    column, row = np.floor(uv_px + 0.5).astype(np.intp).T
    return row.clip(0, shape[0] - 1), column.clip(0, shape[1] - 1)
