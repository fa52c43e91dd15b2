"""Anchors from a file of any sensor: the one place that chooses the reader."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from mrac.anchors import read_anchors
from mrac.anchors.readings import Anchors
from mrac.camera import Camera, Pose
from mrac.errors import ContractError
from mrac.io.raster import read_raster
from mrac.sfm import SfmModel, read_model

SOURCES: Final = {
    "table": "a .csv of u, v, z; an .npz; a sparse 16-bit depth .png of the image's size",
    "depth": "a depth image of any size: PNG, TIFF, EXR, NPY",
    "cloud": "a point cloud: PLY, PCD, LAS, LAZ, NPY, KITTI's .bin, .xyz; needs the camera",
    "zones": "a frame of a multizone time-of-flight sensor",
    "scan": "a scan of a 2-D laser; needs camera and pose",
    "colmap": "a folder with a COLMAP model; needs metres per unit",
}
_BY_SUFFIX: Final = {
    **dict.fromkeys((".csv", ".txt", ".tsv", ".npz", ".png"), "table"),
    **dict.fromkeys((".tif", ".tiff", ".exr"), "depth"),
    **dict.fromkeys((".ply", ".pcd", ".las", ".laz", ".bin", ".xyz", ".asc"), "cloud"),
}

_ONLY_FOR: Final = {  # by attribute of SourceOptions: its option, and the kinds that use it
    "scale": ("--anchors-scale", ("table", "depth", "zones")),
    "pose": ("--pose", ("depth", "cloud", "zones", "scan")),
    "depth_camera": ("--depth-camera", ("depth",)),
    "confidence": ("--confidence", ("depth",)),
    "fov_deg": ("--fov", ("zones",)),
    "rotation_deg": ("--turned", ("zones",)),
    "mirror": ("--mirrored", ("zones",)),
    "metres_per_unit": ("--metres-per-unit", ("colmap",)),
    "max_anchors": ("--max-anchors", ("depth", "cloud")),
}


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """What a file of readings may leave open; each kind of source uses its own part of it.

    Attributes:
        kind: one of `SOURCES`; empty: by the file's suffix.
        scale: stored units per metre, or their name (`mm`, `kitti`, `tum`).
        default_scale: stored units per metre of a file that does not state them, as a sensor's preset has them.
        image_size: (width, height) of the image.
        image_name: of the image in a COLMAP model.
        camera: of the image, at its size.
        pose: camera from sensor.
        depth_camera: of a depth image that another camera took.
        confidence: file with the confidence of a depth image.
        fov_deg: (horizontal, vertical) of a zone sensor.
        rotation_deg: by which its frame is turned counter-clockwise to be upright; None: not at all.
        mirror: `horizontal` or `vertical`, after that; None: not at all.
        metres_per_unit: scale of a COLMAP model.
        max_anchors: at most so many of a dense source, spread evenly.
    """

    kind: str = ""
    scale: str | None = None
    default_scale: float | None = None
    image_size: tuple[int, int]
    image_name: str = ""
    camera: Camera | None = None
    pose: Pose | None = None
    depth_camera: Camera | None = None
    confidence: Path | None = None
    fov_deg: tuple[float, float] | None = None
    rotation_deg: int | None = None
    mirror: str | None = None
    metres_per_unit: float | None = None
    max_anchors: int | None = None


def read_source(path: Path, options: SourceOptions) -> Anchors:
    """Reads the anchors of any source.

    Raises:
        ContractError: the kind is not clear, something that it needs is missing, an option is not for it, the file
            cannot be read, or no point of a cloud or scan lies in the image.
    """
    kind = options.kind or kind_of(path)
    if kind not in SOURCES:
        raise ContractError(f"anchors: the source {kind!r} arrived; one of {', '.join(SOURCES)} is needed")
    for name, (flag, kinds) in _ONLY_FOR.items():
        if getattr(options, name) is not None and kind not in kinds:
            raise ContractError(
                f"anchors: {flag} arrived with {path}, read as {kind}; it is for --from {' | '.join(kinds)}: leave it "
                "out, or name that kind"
            )
    anchors = _read(path, kind, options)
    if kind in ("cloud", "scan") and not len(anchors):
        posed = "no --pose was given" if options.pose is None else "the pose must lead from the sensor to the camera"
        raise ContractError(
            f"anchors: no point of the {kind} {path} lies in the image; points in metres that the camera sees are "
            f"needed ({posed}; the camera's frame is x right, y down, z forward)"
        )
    return anchors


def _read(path: Path, kind: str, options: SourceOptions) -> Anchors:
    if kind == "depth":
        return Anchors.from_depth_map(
            path,
            scale=_depth_scale(path, options) if options.scale is None else options.scale,
            confidence=options.confidence,
            image_size=options.image_size,
            camera=options.camera,
            depth_camera=options.depth_camera,
            pose=options.pose,
            max_anchors=options.max_anchors,
        )
    if kind == "zones":
        return Anchors.from_zones(
            path,
            image_size=options.image_size,
            camera=options.camera,
            fov_deg=options.fov_deg,
            rotation_deg=options.rotation_deg or 0,
            mirror=options.mirror or "none",
            scale=options.default_scale if options.scale is None else options.scale,
            pose=options.pose,
        )
    if kind == "colmap":
        return _from_colmap(path, options)
    if kind == "table":
        width, height = options.image_size
        return read_anchors(
            path,
            options.scale,
            (height, width),
            camera=options.camera,
            default_scale=options.default_scale,
        )
    if options.camera is None:
        raise ContractError(f"anchors: {path} is a {kind}; --camera FILE is needed to project it into the image")
    if kind == "cloud":
        return Anchors.from_point_cloud(path, options.camera, options.pose, max_anchors=options.max_anchors)
    if options.pose is None:
        raise ContractError(f"anchors: {path} is a laser scan; --pose FILE (camera from laser) is needed")
    return Anchors.from_laser_scan(path, options.camera, options.pose)


def _from_colmap(path: Path, options: SourceOptions) -> Anchors:
    """The points of the model; without a camera its keypoints are pixels of the image only if that has their size."""
    scale = options.metres_per_unit
    if scale is None:
        return Anchors.from_colmap(path, options.image_name, metres_per_unit=scale, camera=options.camera)
    model = _model(path, max((file.stat().st_mtime_ns for file in path.glob("**/images.*")), default=0))
    if options.camera is not None:
        return Anchors.from_colmap(model, options.image_name, metres_per_unit=scale, camera=options.camera)
    seen = model.cameras[model.image(options.image_name).camera_id]
    if (seen.width, seen.height) != options.image_size:
        width, height = options.image_size
        raise ContractError(
            f"anchors: the model {path} is of {seen.width}×{seen.height} images, this one is {width}×{height}; its "
            f"camera is needed: --camera {path} resizes the model's"
        )
    return Anchors.from_colmap(model, options.image_name, metres_per_unit=scale)


@lru_cache(maxsize=1)  # of many images of one model, each would read it again
def _model(path: Path, changed_ns: int) -> SfmModel:  # keyed by the time of the last change
    return read_model(path)


def kind_of(path: Path) -> str:
    """The kind of source that a path's suffix names; a folder is a COLMAP model.

    Raises:
        ContractError: the suffix does not tell.
    """
    if path.is_dir():
        return "colmap"
    kind = _BY_SUFFIX.get(path.suffix.lower())
    if kind is None:
        raise ContractError(
            f"anchors: {path} ends in {path.suffix!r}, which does not tell what it is; --from {' | '.join(SOURCES)} is "
            f"needed, or a file that ends in {', '.join(_BY_SUFFIX)}"
        )
    return kind


def _depth_scale(path: Path, options: SourceOptions) -> float | None:
    """The scale of a depth image of whole numbers that does not state it; floats are metres."""
    if options.default_scale is None:
        return None
    values, stated = read_raster(path)
    return options.default_scale if stated is None and values.dtype.kind != "f" else None
