"""The training pack in device memory: every frame decoded once, shrunk to what the network can see."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.lab.data.manifest import Frame, by_set, read_manifest
from mrac.lab.train.above_readings import bound_above, only_below_horizon
from mrac.lab.train.sky import find_sky, labelled_sky

# Focal length over image width, which is all a virtual camera needs to know; 0.9 is a phone's.
_FOCAL = {
    "nyu": 519.0 / 640.0,
    "kitti15": 721.0 / 1242.0,
    "kitti_seq": 721.0 / 1242.0,
    "mosd": 525.0 / 640.0,
    "redkitchen": 525.0 / 640.0,
}
_FOCAL_UNKNOWN = 0.9
# NYUv2's images carry a white margin, its depth invented values under it: (top, bottom, left, right) of 480 × 640.
_MARGIN = {"nyu": (10 / 480, 10 / 480, 10 / 640, 10 / 640)}

# Sets of street scenes in which `find_sky` was looked at and found right.
_WITH_SKY = ("kitti15",)
_BOUNDED = ("kitti15", "kitti_seq", "camvid")  # streets, whose upper half no scanner saw


@dataclass(frozen=True)
class Frames:
    """Frames of one camera.

    Attributes:
        images: (N, 3, h, w) uint8 RGB.
        z_m: (N, h, w) float32 metres; 0 is "not measured", infinite the sky, −z "at least z away" (`bound_above`).
        focal_px: (N,) of the shrunk images.
        names: `set/id` of each.
        scenes: what must not be split between training and validation.
    """

    images: Tensor
    z_m: Tensor
    focal_px: Tensor
    names: tuple[str, ...]
    scenes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)

    @property
    def set_name(self) -> str:
        """Of the set that all of them belong to; empty without frames."""
        return self.names[0].partition("/")[0] if self.names else ""

    def to(self, device: torch.device) -> "Frames":
        """The same on a device."""
        images, z_m, focal_px = (tensor.to(device) for tensor in (self.images, self.z_m, self.focal_px))
        return Frames(images, z_m, focal_px, self.names, self.scenes)

    def pick(self, index: list[int]) -> "Frames":
        """Those of these numbers."""
        names, scenes = tuple(self.names[i] for i in index), tuple(self.scenes[i] for i in index)
        return Frames(self.images[index], self.z_m[index], self.focal_px[index], names, scenes)


def load_frames(folder: Path, device: torch.device, num_pixels: int, *, labelled: bool = False) -> list[Frames]:
    """Reads every set of a pack, one `Frames` per set.

    Args:
        folder: with a manifest.csv whose rows have a `depth`.
        device: where the tensors go.
        num_pixels: images larger than this are shrunk to it; depth keeps the nearest reading of each cell.
        labelled: also the rows without depth that have a `label`, of which `sky_id` is the sky, and bounds above the
            readings of streets. None of that was measured: it is good for a foundation (see `labelled_sky`), not for
            what learns from measurements.

    Raises:
        ContractError: the folder has no manifest, no row with depth, or a file that cannot be read or does not fit.
    """
    found = by_set(
        frame for frame in read_manifest(folder) if frame.row.get("depth") or (labelled and frame.row.get("label"))
    )
    if not found:
        raise ContractError(f"train: {folder}/manifest.csv has no row with a depth file; column `depth` is needed")
    return [_load_set(name, frames, device, num_pixels, labelled) for name, frames in found.items()]


def _load_set(name: str, frames: list[Frame], device: torch.device, num_pixels: int, labelled: bool) -> Frames:
    with ThreadPoolExecutor() as pool:  # decoding pictures is most of the work, and leaves Python alone
        pairs = list(pool.map(lambda frame: shrink(*_read(frame), num_pixels), frames))
    if name in _WITH_SKY:
        pairs = [(image, np.where(find_sky(image, z), np.float32(np.inf), z)) for image, z in pairs]
    if labelled and name in _BOUNDED:
        pairs = [(image, bound_above(z)) for image, z in pairs]
    # Frames of one set differ by a few pixels (KITTI: 370 to 376 rows); the smallest common size loses nothing.
    h, w = (min(z.shape[axis] for _, z in pairs) for axis in (0, 1))
    images = np.stack([image[:h, :w] for image, _ in pairs]).transpose(0, 3, 1, 2)
    z_m = np.stack([z[:h, :w] for _, z in pairs])
    top, bottom, left, right = _MARGIN.get(name, (0.0, 0.0, 0.0, 0.0))
    inside = np.zeros((h, w), dtype=bool)
    inside[round(top * h) : h - round(bottom * h), round(left * w) : w - round(right * w)] = True
    return Frames(
        torch.from_numpy(np.ascontiguousarray(images)).to(device),
        torch.from_numpy(np.where(inside, z_m, 0).astype(np.float32)).to(device),
        torch.full((len(frames),), w * _FOCAL.get(name, _FOCAL_UNKNOWN), device=device),
        tuple(frame.name for frame in frames),
        tuple(map(scene_of, frames)),
    )


def scene_of(frame: Frame) -> str:
    """What must not be split between training and validation: the drive or room, or the frame where none is named."""
    return frame.row.get("scene", "").partition(":")[0] or frame.name


def _read(frame: Frame) -> tuple[ImageArray, FloatArray]:
    image = frame.image()
    z_m = frame.depth_m("depth") if frame.row.get("depth") else only_below_horizon(labelled_sky(frame, image))
    if image.shape[:2] != z_m.shape:
        raise ContractError(
            f"train: {frame.folder}: the image of {frame.name} is {image.shape[1]} × {image.shape[0]} pixels, its "
            f"depth of shape {z_m.shape[::-1]}; depth for every pixel of the image is needed"
        )
    return image, z_m


def shrink(image: ImageArray, z_m: FloatArray, num_pixels: int) -> tuple[ImageArray, FloatArray]:
    """An image (H, W, 3) and its depth (H, W) brought down to `num_pixels`, or left alone when no larger.

    Returns:
        (h, w, 3) uint8 and (h, w) float32; a cell of depth takes the nearest of the readings in it, 0 without any:
        what the camera sees at a silhouette is the surface in front. Infinite depth is sky and stays so.
    """
    H, W = z_m.shape
    factor = (num_pixels / (H * W)) ** 0.5
    if factor >= 1.0:
        return image, np.where(z_m > 0, z_m, 0).astype(np.float32)
    h, w = round(H * factor), round(W * factor)
    small = np.asarray(Image.fromarray(image).resize((w, h), Image.Resampling.BOX, reducing_gap=None))
    rows, columns = np.nonzero(z_m > 0)
    nearest = np.full((h, w), np.inf, dtype=np.float32)
    cells = rows * h // H, columns * w // W
    np.minimum.at(nearest, cells, z_m[rows, columns])
    measured = np.zeros((h, w), dtype=bool)
    measured[cells] = True
    return small, np.where(measured, nearest, 0).astype(np.float32)
