"""Sparse range readings, as every reader of this package gives them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.conventions import FloatArray, TextArray, as_array, frozen_numbers
from mrac.errors import ContractError

if TYPE_CHECKING:
    from pathlib import Path

    from mrac.anchors.laser_scan import LaserScan
    from mrac.camera import Camera, Pose
    from mrac.clouds import PointCloud
    from mrac.sfm import SfmModel

UNFLAGGED: Final = ""  # of a reading in which its sensor or reader found no fault


@dataclass(frozen=True, eq=False, init=False)
class Anchors:
    """K sparse range readings, in any order. Wrong, missing and impossible values get a verdict; they raise nothing.

    Attributes:
        uv_px: (K, 2), u right and v down, pixel centres at integers; sub-pixel positions are used as they are.
        z_m: (K,) metres along the optical axis.
        sigma_m: (K,) standard deviation of each in metres, or None. The head `kriging` and the fit `evidence` use it.
        extent_px: (K, 2) width and height of the area, around `uv_px`, whose mean depth each reading is, as of a zone
            of a multizone sensor; 0 for a point. None: all are points.
        confidence: (K,) in [0, 1], the sensor's own probability that a reading is right, by which its weight is
            multiplied (`gate.base.with_confidence`); None: all are 1, as by a sensor that says nothing.
        flag: (K,) why its sensor or reader calls a reading unusable, one word (`occluded`, `sensor_status_4`), "" where
            it does not. A flagged reading is not used, and its flag is its verdict's reason. None: none is flagged.
    """

    uv_px: FloatArray
    z_m: FloatArray
    sigma_m: FloatArray | None
    extent_px: FloatArray | None
    confidence: FloatArray | None
    flag: TextArray | None

    def __init__(
        self,
        uv_px: ArrayLike,
        z_m: ArrayLike,
        sigma_m: ArrayLike | None = None,
        *,
        extent_px: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        flag: ArrayLike | None = None,
    ) -> None:
        z = frozen_numbers(z_m, "Anchors.z_m", (None,))

        def numbers(values: ArrayLike | None, name: str, *shape: int) -> FloatArray | None:
            return None if values is None else frozen_numbers(values, f"Anchors.{name}", (z.size, *shape))

        columns = {
            "z_m": z,
            "uv_px": frozen_numbers(uv_px, "Anchors.uv_px", (z.size, 2)),
            "sigma_m": numbers(sigma_m, "sigma_m"),
            "extent_px": numbers(extent_px, "extent_px", 2),
            "confidence": numbers(confidence, "confidence"),
            "flag": None if flag is None else _words(flag, z.size),
        }
        for name, values in columns.items():
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return self.z_m.size

    @staticmethod
    def from_csv(path: "Path | str", scale: str | float | None = None, *, camera: "Camera | None" = None) -> "Anchors":
        """A table of u, v and z (or range, with a camera), or any other file of `mrac.anchors.read_anchors`."""
        from mrac.anchors import read_anchors  # noqa: PLC0415  (it imports this module)

        return read_anchors(path, scale, camera=camera)

    @staticmethod
    def from_depth_map(depth: "ArrayLike | Path | str", **options: Any) -> "Anchors":
        """A sparse or dense depth image; options as of `mrac.anchors.depth_map.from_depth_map`."""
        from mrac.anchors.depth_map import from_depth_map  # noqa: PLC0415

        return from_depth_map(depth, **options)

    @staticmethod
    def from_point_cloud(
        cloud: "PointCloud | Path | str | ArrayLike", camera: "Camera", pose: "Pose | None" = None, **options: Any
    ) -> "Anchors":
        """A LiDAR scan or any other cloud; options as of `mrac.anchors.point_cloud.from_point_cloud`."""
        from mrac.anchors.point_cloud import from_point_cloud  # noqa: PLC0415

        return from_point_cloud(cloud, camera, pose, **options)

    @staticmethod
    def from_zones(z: "ArrayLike | Path | str", **options: Any) -> "Anchors":
        """A multizone time-of-flight frame; options as of `mrac.anchors.zones.from_zones`."""
        from mrac.anchors.zones import from_zones  # noqa: PLC0415

        return from_zones(z, **options)

    @staticmethod
    def from_laser_scan(
        ranges_m: "LaserScan | Path | str | ArrayLike", camera: "Camera", pose: "Pose", **options: Any
    ) -> "Anchors":
        """A scan of a 2-D laser; options as of `mrac.anchors.laser_scan.from_laser_scan`."""
        from mrac.anchors.laser_scan import from_laser_scan  # noqa: PLC0415

        return from_laser_scan(ranges_m, camera, pose, **options)

    @staticmethod
    def from_colmap(model: "Path | str | SfmModel", image_name: str, **options: Any) -> "Anchors":
        """The points of a COLMAP model in one image; options as of `mrac.anchors.colmap.from_colmap`."""
        from mrac.anchors.colmap import from_colmap  # noqa: PLC0415

        return from_colmap(model, image_name, **options)

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Self:
        """Those at `index`, in its order."""

        def some(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[index]

        return type(self)(
            self.uv_px[index],
            self.z_m[index],
            some(self.sigma_m),
            extent_px=some(self.extent_px),
            confidence=some(self.confidence),
            flag=some(self.flag),
        )


def joined(parts: Sequence[Anchors]) -> Anchors:
    """Several sets of anchors as one, in their order; what a set leaves out is as of a sensor that says nothing."""
    if len(parts) == 1:
        return parts[0]

    def column(name: str, missing: Any, *shape: int) -> Any:
        values = [getattr(part, name) for part in parts]
        if all(value is None for value in values):
            return None
        filled = [np.full((len(p), *shape), missing) if v is None else v for p, v in zip(parts, values, strict=True)]
        return np.concatenate(filled)

    return Anchors(
        np.concatenate([np.empty((0, 2)), *(part.uv_px for part in parts)]),
        np.concatenate([np.empty(0), *(part.z_m for part in parts)]),
        column("sigma_m", 0.0),  # as where none is stated: the fit's own noise is added to it
        extent_px=column("extent_px", 0.0, 2),
        confidence=column("confidence", 1.0),
        flag=column("flag", UNFLAGGED),
    )


def _words(flag: ArrayLike, num: int) -> TextArray:
    words = np.array(as_array(flag, "Anchors.flag"))
    if words.shape != (num,) or words.dtype.kind != "U":
        raise ContractError(
            f'Anchors.flag: ({num},) words are needed, {words.dtype} of shape {words.shape} arrived; "" is no flag'
        )
    words.setflags(write=False)
    return words
