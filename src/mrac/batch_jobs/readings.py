"""How the files of readings of a job are read: the options of `mrac.anchors.sources` that all of its frames share."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrac.errors import ContractError
from mrac.io.files import sha256_of

if TYPE_CHECKING:
    from mrac.anchors import Anchors
    from mrac.camera import Camera


@dataclass(frozen=True, kw_only=True)
class Readings:
    """As the options of `mrac calibrate` of the same names; None: not given.

    Attributes:
        kind: what the files are, see `mrac.anchors.sources.SOURCES`.
        scale: stored depth per metre, or its name.
        camera: file of the intrinsics of all images.
        camera_name: which camera of that file.
        pose: file of the pose, camera from sensor.
        sensor: name of a preset.
        max_anchors: at most so many of a dense source.
    """

    kind: str | None = None
    scale: str | None = None
    camera: str | None = None
    camera_name: str | None = None
    pose: str | None = None
    sensor: str | None = None
    max_anchors: int | None = None

    def identity(self) -> dict[str, Any]:
        """The options as plain values, files by the SHA-256 of their content.

        Raises:
            ContractError: a file is missing.
        """
        values = asdict(self)
        for name in ("camera", "pose"):
            if values[name] is not None:
                try:
                    values[name] = sha256_of(Path(values[name]))
                except OSError as error:
                    raise ContractError(f"batch: --{name} {values[name]}: {error.strerror}; a file is needed") from None
        return values

    def read(self, path: Path, image: Path, size: tuple[int, int]) -> "Anchors":
        """The readings in `path` of an `image` of `size` (width, height).

        Raises:
            ContractError: see `mrac.anchors.sources.read_source`.
        """
        from mrac.anchors.sources import SourceOptions, read_source  # noqa: PLC0415
        from mrac.camera import read_pose  # noqa: PLC0415
        from mrac.sensors import sensor  # noqa: PLC0415

        options = SourceOptions(
            kind=self.kind or "",
            scale=self.scale,
            image_size=size,
            image_name=image.name,
            camera=self.camera_of(size),
            pose=None if self.pose is None else read_pose(Path(self.pose), self.camera_name),
            max_anchors=self.max_anchors,
        )
        if self.sensor is not None:
            options = sensor(self.sensor).completed(options)
        return self.as_by_sensor(read_source(path, options))

    def as_by_sensor(self, anchors: "Anchors") -> "Anchors":
        """The readings with the sensor's noise and flags, where a sensor is named."""
        from mrac.sensors import sensor  # noqa: PLC0415

        return anchors if self.sensor is None else sensor(self.sensor).apply(anchors)

    def camera_of(self, size: tuple[int, int]) -> "Camera | None":
        """The camera of an image of `size` (width, height); None where none is given."""
        return None if self.camera is None else _camera(self.camera, self.camera_name, size)


@lru_cache(maxsize=8)
def _camera(path: str, name: str | None, size: tuple[int, int]) -> "Camera":
    from mrac.camera import read_camera  # noqa: PLC0415
    from mrac.result.inputs import fitted_camera  # noqa: PLC0415

    return fitted_camera(read_camera(Path(path), name, size=size), size[::-1], f"--camera {path}")
