"""A sparse reconstruction: images with poses and keypoints, and the points that they see."""

import difflib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from mrac.camera import Camera, Pose
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lazy import computed_once

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SfmImage:
    """One registered image.

    Attributes:
        image_id: the model's number of it.
        camera_id: the model's number of its camera.
        name: its path below the folder of images.
        camera_from_world: its pose, in units of the model.
        uv_px: (N, 2) keypoints; pixel centres at integers (COLMAP's files have them at 0.5).
        point_id: (N,) the id of the point that each keypoint sees, -1 for none.
    """

    image_id: int
    camera_id: int
    name: str
    camera_from_world: Pose
    uv_px: FloatArray
    point_id: IntArray

    @computed_once
    def centre(self) -> FloatArray:
        """(3,) the camera's place in the world, in units of the model."""
        return np.asarray(self.camera_from_world.inverse().matrix[:3, 3])


@dataclass(frozen=True, eq=False)
class SfmPoints:
    """The P points, and the T observations of all of them one after the other, in the order of the points.

    Attributes:
        point_id: (P,) the model's numbers.
        xyz: (P, 3) in the world, in units of the model.
        rgb: (P, 3) uint8.
        error_px: (P,) mean reprojection error.
        track_length: (P,) number of observations.
        track_image_id: (T,) in which image an observation is.
        track_keypoint: (T,) and which keypoint of it, from 0.
    """

    point_id: IntArray
    xyz: FloatArray
    rgb: NDArray[np.uint8]
    error_px: FloatArray
    track_length: IntArray
    track_image_id: IntArray
    track_keypoint: IntArray

    def __len__(self) -> int:
        return self.point_id.size

    @computed_once
    def _order(self) -> IntArray:
        return np.asarray(np.argsort(self.point_id, kind="stable"), dtype=np.int64)

    def rows_of(self, point_id: IntArray) -> IntArray:
        """(N,) ids to rows of these arrays; -1 where there is no such point."""
        if not len(self):
            return np.full(point_id.shape, -1)
        place = np.searchsorted(self.point_id, point_id, sorter=self._order).clip(max=len(self) - 1)
        row = self._order[place]
        return np.where(self.point_id[row] == point_id, row, -1)

    def observations_of(self, row: IntArray) -> tuple[IntArray, IntArray]:
        """All observations of the points at `row`: for each its place in `row`, and its place in `track_*`."""
        length = self.track_length[row]
        start = np.cumsum(self.track_length) - self.track_length
        owner = np.repeat(np.arange(row.size), length)
        within = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
        return owner, start[row][owner] + within


@dataclass(frozen=True, eq=False)
class SfmModel:
    """A model as COLMAP and hloc write it.

    Attributes:
        folder: where it was read from.
        cameras: by the model's number.
        images: by the model's number.
        points: all.
    """

    folder: Path
    cameras: dict[int, Camera]
    images: dict[int, SfmImage]
    points: SfmPoints

    def image(self, name: str) -> SfmImage:
        """The image of that name, or the only one whose path ends in it.

        Raises:
            ContractError: there is none, or there are several.
        """
        by_name = {image.name: image for image in self.images.values()}
        if name in by_name:
            return by_name[name]
        wanted = PurePosixPath(name.replace("\\", "/")).parts
        ends = [n for n in by_name if wanted and PurePosixPath(n.replace("\\", "/")).parts[-len(wanted) :] == wanted]
        if len(ends) == 1:
            return by_name[ends[0]]
        if ends:
            raise ContractError(f"sfm: {self.folder}: {name!r} fits {', '.join(sorted(ends)[:3])}; give the whole name")
        near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.0)
        raise ContractError(
            f"sfm: {self.folder}: no registered image {name!r} among its {len(by_name)}; a name such as "
            f"{', '.join(map(repr, near))} is needed"
        )

    def seen_in(self, image: SfmImage) -> tuple[FloatArray, IntArray]:
        """The points that an image sees: (K, 2) where it sees each, and (K,) their rows in `points`.

        Raises:
            ContractError: the image names a point that the model does not hold.
        """
        sees = image.point_id >= 0
        row = self.points.rows_of(image.point_id[sees])
        if (row < 0).any():
            raise ContractError(
                f"sfm: {self.folder}: image {image.name!r} sees point {image.point_id[sees][row < 0][0]}, which "
                "points3D does not hold; images and points3D of one model are needed"
            )
        return image.uv_px[sees], row
