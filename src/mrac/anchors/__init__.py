"""Reads anchors from files. The file extension names the reader: `anchors/csv.py` reads `.csv`."""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from mrac.anchors._stored import Stored
from mrac.anchors.readings import Anchors
from mrac.camera import Camera
from mrac.errors import ContractError
from mrac.io.input_file import as_path, check_file
from mrac.limits import check_readings
from mrac.units import per_metre

__all__ = ["Anchors", "read_anchors"]

_READERS: Final = {".csv": "csv", ".txt": "csv", ".tsv": "csv", ".npz": "npz", ".png": "png"}
"""The module that reads each extension."""


def read_anchors(
    path: Path | str,
    scale: str | float | None = None,
    image_shape: tuple[int, int] | None = None,
    *,
    camera: Camera | None = None,
    default_scale: float | None = None,
) -> Anchors:
    """Reads anchors from a file of any known format; no anchor is checked or dropped yet.

    Args:
        path: .csv (also .txt, .tsv), .npz, or a sparse 16-bit depth .png.
        scale: stored depth per metre where it is not metres, or its name: 1000 or "mm", 256 or "kitti", "tum", ...
        image_shape: (H, W) of the image, if known: a depth PNG of another size is refused.
        camera: of the image, at its size, for a file of ray lengths (a column `range_m`), which is refused without it.
        default_scale: as `scale`, of a file that does not state its unit, such as a sensor's usual one.

    Raises:
        ContractError: the file is missing, of an unknown format, broken, of another size than the image, its
            scale is not known, or it has ray lengths and there is no camera.
    """
    path = as_path(path, 'read_anchors("anchors.csv")')
    kind = _READERS.get(path.suffix.lower())
    if kind is None:
        raise ContractError(f"anchors: {path} ends in {path.suffix!r}; one of {', '.join(_READERS)} is needed")
    check_file(path, "anchors")
    given = None if scale is None else per_metre(scale, "anchors")
    try:
        stored: Stored = importlib.import_module(f"mrac.anchors.{kind}").read(path)
    except (UnicodeDecodeError, PermissionError) as error:
        raise ContractError(f"anchors: {path} cannot be read: {error}") from None
    unstated = default_scale if stored.per_metre is None or not stored.states_unit else None
    units = given or unstated or stored.per_metre
    if units is None:
        raise ContractError(
            f"anchors/{kind}: {path} does not state its scale; give it: --anchors-scale 256 for KITTI, 1000 for mm"
        )
    if image_shape is not None and stored.shape is not None and stored.shape != image_shape:
        (h, w), (H, W) = stored.shape, image_shape
        raise ContractError(
            f"anchors/{kind}: {path} is {w}×{h} (width × height), the image {W}×{H}; the same size is needed, since "
            "positions are pixels of the image"
        )
    check_readings(np.size(stored.z), f"anchors/{kind}: {path}")
    if stored.is_range and camera is None:
        raise ContractError(
            f"anchors/{kind}: {path} has lengths of rays (a column `range`); depth along the optical axis is needed: "
            "give the camera, or a column z"
        )
    return _in_metres(stored, units, camera)


def _in_metres(stored: Stored, units: float, camera: Camera | None) -> Anchors:
    """The anchors of a file with `units` to a metre; lengths of rays, where it has these, along the camera's axis."""
    more = {"extent_px": stored.extent_px, "confidence": stored.confidence, "flag": stored.flag}
    anchors = Anchors(stored.uv_px, stored.z, stored.sigma, **more)
    if units == 1.0 and not stored.is_range:
        return anchors
    z_m, sigma_m = anchors.z_m / units, None if anchors.sigma_m is None else anchors.sigma_m / units
    if stored.is_range and camera is not None:
        # Along the ray and along the axis the deviation is the same share of the reading.
        shorter = camera.range_to_z(anchors.uv_px, np.ones(len(anchors)))
        z_m, sigma_m = z_m * shorter, None if sigma_m is None else sigma_m * shorter
    return replace(anchors, z_m=z_m, sigma_m=sigma_m)
