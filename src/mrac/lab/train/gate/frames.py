"""What the learned gate is trained on: frames, relative depth of networks that had not seen them, a lidar's scan."""

import copy
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.gp.features import ImageAppearance
from mrac.io.files import read_png16
from mrac.io.input_file import inside
from mrac.lab.data.manifest import Frame, by_set, read_manifest, rules_of
from mrac.lab.train.frames import Frames, scene_of
from mrac.lab.train.heads.data import OutOfFold
from mrac.lab.train.synthetic.stereo.readings import stereo_scan
from mrac.pipeline import Calibrator
from mrac.types import RelativeDepth

# Their truth is a raw scan: what it gets wrong would be taught as right.
_RAW_TRUTH: Final = ("kitti_seq",)
_AT_ONCE: Final = 48  # frames, for which the networks are read anew
_NUM_COMPLETING: Final = 1500  # pixels from which a truth with holes is completed
_AROUND_PX, _HARDLY = 1.5, 0.003  # how far a truth is heard, and the share of pixels that have one which is none
_NUM_STEREO: Final = 3  # cameras that look at one frame


@dataclass(frozen=True)
class GateFrame:
    """One image with its truth, as scenes are drawn from it.

    Attributes:
        image: (H, W, 3) uint8.
        z_m: (H, W) float64 metres, 0 where there is none.
        pixels: (P,) flat indices of those that readings are taken at.
        field: (H, W) float32 relative log depth.
        scan_m: (H, W) a lidar's own readings, metres, 0 where there is none; None without one.
        max_range_m: of the sensor.
        name: by which its stereo cameras are drawn.
    """

    image: ImageArray
    z_m: FloatArray
    pixels: NDArray[np.intp]
    field: FloatArray
    scan_m: FloatArray | None
    max_range_m: float
    name: str = ""

    def within(self, pixels: NDArray[np.intp]) -> Self:
        """The same frame, with readings at these pixels only; what was computed of it is kept."""
        twin = copy.copy(self)
        object.__setattr__(twin, "pixels", pixels)
        return twin

    @cached_property
    def appearance(self) -> ImageAppearance:
        """Of the image, found once."""
        return ImageAppearance(self.image)

    @cached_property
    def dense_m(self) -> FloatArray:
        """(H, W) the truth, completed by kriging around the relative field where there is none."""
        known = self.z_m > 0.0
        if known.all():
            return self.z_m
        rng = np.random.default_rng(0)
        pixels = rng.choice(np.flatnonzero(known), min(_NUM_COMPLETING, int(known.sum())), replace=False)
        anchors = Anchors(self.uv_px(pixels), self.z_m.ravel()[pixels])
        completed = Calibrator(gate="none")(self.image, anchors, RelativeDepth(self.field, "log_depth"))
        # A truth that is put back must not stick out of its surroundings: a camera would see a needle there.
        off, share = (
            ndimage.gaussian_filter(part, _AROUND_PX)
            for part in (np.log(np.where(known, self.z_m / completed.depth_m, 1.0)), known.astype(np.float64))
        )
        return np.where(known, self.z_m, completed.depth_m * np.exp(off / (share + _HARDLY)))

    @cached_property
    def stereo_m(self) -> tuple[FloatArray, ...]:
        """(H, W) each: what stereo cameras would read, metres, 0 where they read nothing."""
        seeds = ([zlib.crc32(self.name.encode()), number] for number in range(_NUM_STEREO))
        return tuple(
            stereo_scan(self.image, self.dense_m, np.random.default_rng(seed), self.max_range_m) for seed in seeds
        )

    def uv_px(self, pixels: NDArray[np.intp]) -> FloatArray:
        """(n, 2) positions of (n,) flat indices."""
        return np.stack(np.unravel_index(pixels, self.z_m.shape)[::-1], axis=1).astype(np.float64)

    def nearest_around(self, half_px: int) -> FloatArray:
        """(H, W) the least truth within `half_px` to each side, infinite without any."""
        return np.asarray(ndimage.minimum_filter(np.where(self.z_m > 0.0, self.z_m, np.inf), 2 * half_px + 1))

    def farthest_around(self, half_px: int) -> FloatArray:
        """(H, W) the largest truth within `half_px` to each side, 0 without any."""
        return np.asarray(ndimage.maximum_filter(self.z_m, 2 * half_px + 1))


@dataclass(frozen=True, kw_only=True)
class GateData:
    """Where frames come from.

    Attributes:
        folders: the training packs. A scan lies beside a set's files, as `<set>/lidar/<id>.png`, in 1/256 m.
        networks: of `mrac train foundation --fold`, in order: each frame's relative depth is of the one that never saw
            its scene.
        limit: read so many frames of each set only.
    """

    folders: tuple[Path, ...]
    networks: tuple[Path, ...]
    limit: int | None = None

    def sets(self) -> dict[str, list[Frame]]:
        """The frames of each set, in an order that is random and always the same.

        Raises:
            ContractError: the pack cannot be read, or holds no frame with depth.
        """
        every = chain.from_iterable(map(read_manifest, self.folders))
        found = by_set(frame for frame in every if frame.row.get("depth") and frame.row["set"] not in _RAW_TRUTH)
        if not found:
            where = " and ".join(map(str, self.folders))
            raise ContractError(f"train: the manifest.csv of {where} has no row with a depth file that can be trusted")
        rng = np.random.default_rng(0)
        return {name: [frames[i] for i in rng.permutation(len(frames))][: self.limit] for name, frames in found.items()}

    def read(self, frames: list[Frame], upside_down: bool) -> Iterator[tuple[int, GateFrame]]:
        """Each frame once, with its number, in any order.

        Args:
            frames: of one set.
            upside_down: take what a network makes of the picture turned over, a kind that it has never seen.

        Raises:
            ContractError: a frame or a network cannot be read.
        """
        for start in range(0, len(frames), _AT_ONCE):
            by_shape: dict[tuple[int, ...], list[tuple[int, Frame, ImageArray]]] = {}
            for number, frame in enumerate(frames[start : start + _AT_ONCE], start):
                image = frame.image()
                by_shape.setdefault(image.shape, []).append((number, frame, image))
            for same in by_shape.values():
                for i, field in self._fields(same, upside_down):
                    number, frame, image = same[i]
                    yield number, _gate_frame(frame, image, field)

    def _fields(self, same: list[tuple[int, Frame, ImageArray]], upside_down: bool) -> Iterator[tuple[int, FloatArray]]:
        """Relative depth (H, W) of frames of one size, with their place among them."""
        step = -1 if upside_down else 1
        images = torch.from_numpy(np.stack([image[::step] for _, _, image in same])).permute(0, 3, 1, 2)
        blank = torch.zeros(len(same), *images.shape[2:])
        names = tuple(frame.name for _, frame, _ in same)
        scenes = tuple(scene_of(frame) for _, frame, _ in same)
        for i, relative in OutOfFold(self.networks)(Frames(images, blank, blank[:, 0, 0], names, scenes)):
            yield i, np.ascontiguousarray(relative.values[::step])


def _gate_frame(frame: Frame, image: ImageArray, field: FloatArray) -> GateFrame:
    truth, rules = frame.depth_m("depth").astype(np.float64), rules_of(frame.row["set"])
    if truth.shape != image.shape[:2]:
        raise ContractError(
            f"train: {frame.folder}: the image of {frame.name} has {image.shape[:2]} pixels, its depth {truth.shape}; "
            "depth for every pixel of the image is needed"
        )
    z_m = np.where(np.isfinite(truth) & (truth > 0.0), truth, 0.0)
    scan = inside(frame.folder, f"{frame.row['set']}/lidar/{frame.row['id']}.png", "train gate")
    return GateFrame(
        image=image,
        z_m=z_m,
        pixels=np.flatnonzero(rules.scored(z_m)),
        field=field,
        scan_m=read_png16(scan)[0] / 256.0 if scan.is_file() else None,
        max_range_m=rules.max_range_m,
        name=frame.name,
    )
