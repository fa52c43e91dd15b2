"""Reads rasters of one number per pixel: PNG, TIFF, OpenEXR and NPY."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.io.arrays import read_array
from mrac.io.files import stated_scale
from mrac.io.image import open_image
from mrac.io.input_file import check_file

SUFFIXES: Final = (".png", ".tif", ".tiff", ".exr", ".npy")
_CHANNELS: Final = ("Z", "depth", "Y", "V")  # in EXR files, the first that there is; else the only one


class Raster(NamedTuple):
    """One number per pixel, as stored.

    Attributes:
        values: (H, W) whole numbers or floats.
        per_metre: stored units per metre where the file states it, as the depth PNGs of this package do; else None.
    """

    values: NDArray[Any]
    per_metre: float | None


def read_raster(path: Path | str) -> Raster:
    """A raster file by its suffix.

    Of an EXR, the channel `Z`, `depth`, `Y` or `V` (also as the last part of a name: `ViewLayer.Depth.Z`), or the only
    one. An NPY may have a last axis of length one.

    Raises:
        ContractError: the file is missing, broken, of another kind, or has several numbers per pixel.
        MissingExtra: an EXR, without the package OpenEXR.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise ContractError(f"raster: {path} ends in {path.suffix!r}; one of {', '.join(SUFFIXES)} is needed")
    check_file(path, "raster")
    stated: float | None = None
    if kind == ".npy":
        values: NDArray[Any] = read_array(path)
    elif kind == ".exr":
        values = _read_exr(path)
    else:
        with open_image(path) as image:
            if image.mode in ("P", "1") or len(image.getbands()) > 1:
                raise ContractError(f"raster: {path} is a {image.mode} picture; one number per pixel is needed")
            values, stated = np.array(image), stated_scale(image, path)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim != 2 or not values.size or values.dtype.kind not in "fiu":
        raise ContractError(f"raster: {path} holds {values.dtype} of shape {values.shape}; (H, W) numbers are needed")
    return Raster(values, stated)


def _read_exr(path: Path) -> NDArray[Any]:
    try:
        import OpenEXR  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingExtra("reading EXR files", "sensors") from None
    try:
        with OpenEXR.File(str(path), separate_channels=True) as file:
            channels = {name: np.array(channel.pixels) for name, channel in file.channels().items()}
    except Exception as error:  # the library raises what it likes: RuntimeError, its own types
        raise ContractError(f"raster: {path}: not a readable EXR file ({first_line(error)})") from None
    for wanted in _CHANNELS:
        for name, values in channels.items():
            if name.rpartition(".")[2] == wanted:
                return values
    if len(channels) != 1:
        raise ContractError(f"raster: {path} has the channels {', '.join(channels)}; one named Z or depth is needed")
    return next(iter(channels.values()))
