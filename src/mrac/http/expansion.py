"""Refuses files that would grow beyond the limits, by what their headers state, before they are expanded."""

import io
import math
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from PIL import Image, UnidentifiedImageError

from mrac.clouds.pcd import stated_size
from mrac.errors import ContractError, MissingExtra
from mrac.http.errors import TooLargeError, UnsupportedError
from mrac.http.limits import Limits
from mrac.io.arrays import stated_array
from mrac.limits import MEGAPIXELS

PICTURES: Final = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "PPM")
"""Pillow's names of what is read from a client; others start programs (EPS) or are not worth their risk."""
_MAX_MEMBERS: Final = 64
_FLOAT64: Final = 8
_PLAIN_ZIP: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile expands the others without a bound


def check_picture(content: bytes, where: str, limits: Limits) -> None:
    """Reads the header of a picture and compares its size with the limit; nothing is decoded.

    Raises:
        TooLargeError: more pixels than the limit.
        UnsupportedError: not a picture of `PICTURES`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our limit is the one that counts
            with Image.open(io.BytesIO(content), formats=PICTURES) as picture:
                width, height = picture.size
    except Image.DecompressionBombError:
        raise TooLargeError(
            f"{where}: over {MEGAPIXELS} megapixels by its header; at most {limits.pixels:,} are read"
        ) from None
    except UnidentifiedImageError:
        raise UnsupportedError(
            f"{where}: not a picture that is read here; one of {', '.join(PICTURES)} is needed"
        ) from None
    except Exception as error:  # a broken header makes Pillow raise nearly anything
        raise ContractError(f"{where}: not a readable image ({str(error)[:100]})") from None
    if width * height > limits.pixels:
        raise TooLargeError(
            f"{where}: {width}×{height} pixels by its header; at most {limits.pixels:,} are read. Shrink it first"
        )


def check_file(path: Path, where: str, limits: Limits) -> None:
    """Compares what a file of readings would become with the limits, by its suffix.

    Raises:
        TooLargeError: more than the limits.
        ContractError: its header is broken.
    """
    check = _CHECKS.get(path.suffix.lower())
    if check is not None:
        check(path, where, limits)


def _picture(path: Path, where: str, limits: Limits) -> None:
    check_picture(path.read_bytes(), where, limits)


def _npy(path: Path, where: str, limits: Limits) -> None:
    with path.open("rb") as file:
        _check_array(file, path.stat().st_size, where, limits)


def _npz(path: Path, where: str, limits: Limits) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if len(members) > _MAX_MEMBERS or total > limits.expanded_bytes:
                raise TooLargeError(
                    f"{where}: {len(members)} arrays of {total:,} bytes once expanded; at most {_MAX_MEMBERS} of "
                    f"{limits.expanded_bytes:,} are read"
                )
            for member in members:
                if member.compress_type not in _PLAIN_ZIP:
                    raise UnsupportedError(f"{where}: compressed by method {member.compress_type}; deflate is read")
                with archive.open(member) as file:
                    _check_array(file, member.file_size, where, limits)
    except (OSError, ValueError, RuntimeError, EOFError, LookupError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, ContractError):
            raise
        raise ContractError(f"{where}: not a readable .npz file ({str(error)[:100]})") from None


def _check_array(file: IO[bytes], size: int, where: str, limits: Limits) -> None:
    """Numpy reserves what an array's header states: it must be in the file, and within the limit.

    Readers make float64 of any numbers, so that bytes count as eight, and so do words of no letters.
    """
    try:
        shape, dtype = stated_array(file)
    except Exception as error:  # numpy evaluates the header as Python text, which fails in many ways
        raise ContractError(f"{where}: not a readable numpy array ({str(error)[:100]})") from None
    count = math.prod(shape)
    needed, grown = count * dtype.itemsize, count * max(dtype.itemsize, _FLOAT64)
    if grown > limits.expanded_bytes:
        raise TooLargeError(f"{where}: an array of shape {str(shape)[:60]} is {grown:,} bytes; send a smaller one")
    if needed > size:
        raise ContractError(f"{where}: an array of shape {str(shape)[:60]} needs {needed:,} bytes, {size:,} are there")


def _pcd(path: Path, where: str, limits: Limits) -> None:
    num, size = stated_size(path)
    if num > limits.pixels or size > limits.expanded_bytes:
        raise TooLargeError(
            f"{where}: {num:,} points of {size:,} bytes once expanded; at most {limits.pixels:,} of "
            f"{limits.expanded_bytes:,} are read"
        )


def _las(path: Path, where: str, limits: Limits) -> None:
    try:
        import laspy  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("reading LAS and LAZ", "sensors") from None
    try:
        with laspy.open(path) as file:
            num = int(file.header.point_count)
    except Exception as error:  # see mrac.clouds.las
        raise ContractError(f"{where}: no readable LAS or LAZ file ({str(error)[:100]})") from None
    if num > limits.pixels:
        raise TooLargeError(f"{where}: {num:,} points by its header; at most {limits.pixels:,} are read")


def _exr(path: Path, where: str, limits: Limits) -> None:
    try:
        import OpenEXR  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("reading EXR files", "sensors") from None
    try:
        with OpenEXR.File(str(path), header_only=True) as file:
            (left, top), (right, bottom) = (tuple(map(int, corner)) for corner in file.header()["dataWindow"])
            channels = max(len(file.header().get("channels", ())), 1)
    except Exception as error:  # see mrac.io.raster
        raise ContractError(f"{where}: not a readable EXR file ({str(error)[:100]})") from None
    width, height = right - left + 1, bottom - top + 1
    if width * height > limits.pixels or 4 * width * height * channels > limits.expanded_bytes:
        raise TooLargeError(
            f"{where}: {width}×{height} pixels of {channels} channels; at most {limits.pixels:,} are read"
        )


_CHECKS: Final[dict[str, Callable[[Path, str, Limits], None]]] = {
    ".npz": _npz,
    ".npy": _npy,
    **dict.fromkeys((".png", ".tif", ".tiff"), _picture),
    ".pcd": _pcd,
    **dict.fromkeys((".las", ".laz"), _las),
    ".exr": _exr,
}
