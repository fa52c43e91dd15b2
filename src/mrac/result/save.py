"""Writes a result to a folder or to one file, by the ending of its name; each is written whole or not at all."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.io.input_file import as_path
from mrac.result.metric_depth import MetricDepth

if TYPE_CHECKING:
    from mrac.anchors import Anchors
    from mrac.camera import Camera

SUFFIXES: Final = (".npz", ".png", ".exr", ".tif", ".tiff", ".ply", ".bin")


def save(
    result: MetricDepth,
    path: Path | str,
    *,
    image: ImageArray | None = None,
    anchors: "Anchors | None" = None,
    camera: "Camera | None" = None,
    format: str | None = None,
) -> Path:
    """Writes `path`; see `MetricDepth.save`."""
    target = user_path(str(as_path(path, 'save("depth.npz")')))
    suffix = target.suffix.lower()
    is_folder = target.is_dir() or not suffix or str(path).endswith(("/", os.sep))
    if format is not None and (suffix != ".png" or is_folder):
        raise ContractError(f"save: format={format!r} is for a .png file; {target} is not one: leave it out")
    if is_folder:
        from mrac.result.folder import write_result  # noqa: PLC0415

        write_result(target, result, anchors, {}, image=image)
    elif suffix == ".npz":
        from mrac.io.files import write_arrays  # noqa: PLC0415

        write_arrays(target, depth_m=result.depth_m, sigma_m=result.sigma_m, **vars(result.anchors))
    elif suffix == ".png":
        from mrac.result.depth_png import write_png  # noqa: PLC0415

        write_png(target, result.depth_m, format)
    elif suffix == ".exr":
        from mrac.result.exr import write_exr  # noqa: PLC0415

        write_exr(target, result.depth_m, result.sigma_m)
    elif suffix in (".tif", ".tiff"):
        from mrac.result.tiff import write_tiff  # noqa: PLC0415

        write_tiff(target, result.depth_m, result.sigma_m)
    elif suffix == ".bin":
        from mrac.result.colmap_map import write_colmap_map  # noqa: PLC0415

        write_colmap_map(target, result.depth_m)
    elif suffix == ".ply":
        _save_ply(result, target, camera, image)
    else:
        raise ContractError(f"save: {target}: no format {suffix!r}; a folder or one of {', '.join(SUFFIXES)} is needed")
    return target


def _save_ply(result: MetricDepth, path: Path, camera: "Camera | None", image: ImageArray | None) -> None:
    if camera is None:
        raise ContractError(f"save: {path}: a point cloud needs the camera; add camera=read_camera(file) (--camera)")
    result.points(camera, image=image).save(path)
