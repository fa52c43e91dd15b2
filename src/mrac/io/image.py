"""Reads an image file of any format of Pillow as (H, W, 3) uint8 RGB, upright."""

import io
import logging
import struct
import warnings
from pathlib import Path
from typing import Final

import numpy as np
from PIL import ExifTags, Image, UnidentifiedImageError

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.input_file import as_path, check_file
from mrac.limits import MEGAPIXELS, check_unpacked

_RUN_PROGRAMS: Final = ("EPS",)  # formats that Pillow decodes by starting another program

# Else its complaints about damaged files would go to the terminal where nobody has set up logging.
logging.getLogger("PIL").addHandler(logging.NullHandler())

_TURNS: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def read_image(path: Path | str, content: bytes | None = None) -> ImageArray:
    """An image file as (H, W, 3) uint8 RGB, upright as its EXIF orientation says.

    Grey, palette, CMYK and 1-bit become RGB; alpha is dropped and the colours under it are kept; of an animation or a
    file of several pages the first is read. 16 bits are scaled to 8 by their full range, whatever they use of it; of
    floats, white is the least of 1, 255 and 65535 that holds every pixel (1 up to 1.5, for a resampled edge).

    Args:
        path: of the file.
        content: its bytes, where they are in memory already; the path then is for errors alone.

    Raises:
        ContractError: the file is missing, not an image, cut short, larger than 178 megapixels, or of values that
            cannot be read as brightness.
    """
    path = as_path(path, 'read_image("image.png")')
    with open_image(path, content) as image:
        upright = _turned(image)
        if upright.mode.startswith("I") or upright.mode == "F":
            return _grey(np.asarray(upright), path)
        if upright.mode == "P" and "transparency" in upright.info:
            upright = upright.convert("RGBA")  # the way to RGB on which Pillow does not warn
        try:
            return np.array(upright if upright.mode == "RGB" else upright.convert("RGB"))
        except ValueError:
            raise ContractError(
                f"{path}: an image of mode {upright.mode} arrived; grey, RGB, palette or CMYK is needed, with or "
                "without alpha"
            ) from None


def open_image(path: Path, content: bytes | None = None) -> Image.Image:
    """An image file, or its `content`, decoded but otherwise as it is stored.

    Raises:
        ContractError: the file is missing, not an image, cut short, or larger than 178 megapixels.
    """
    size = check_file(path) if content is None else len(content)
    with warnings.catch_warnings():
        # Pillow warns from 89 megapixels on (our limit is the one at which it raises), and of each tag that is damaged.
        warnings.simplefilter("ignore")
        image = _opened(path, content)
        try:
            _check_header(image, size, path)
            image.load()
        except Exception as error:  # of a damaged file Pillow raises nearly anything
            image.close()
            if isinstance(error, ContractError):
                raise
            raise ContractError(f"{path}: not a readable image ({error})") from None
    return image


def _opened(path: Path, content: bytes | None) -> Image.Image:
    try:
        return Image.open(path if content is None else io.BytesIO(content))
    except Image.DecompressionBombError:
        raise ContractError(
            f"{path}: more than {MEGAPIXELS} megapixels arrived, by what the file says of itself; "
            "at most that many are read. Shrink it first"
        ) from None
    except UnidentifiedImageError:
        raise ContractError(f"{path}: not a readable image (no kind of picture that is known)") from None
    except Exception as error:  # as above
        raise ContractError(f"{path}: not a readable image ({error})") from None


def _check_header(image: Image.Image, packed: int, path: Path) -> None:
    """Refuses a program, and a decompression bomb by its header; Pillow's own test has the count of pixels alone."""
    if image.format in _RUN_PROGRAMS:
        raise ContractError(f"{path}: an {image.format} file is a program, not a picture; convert it first")
    width, height = image.size
    bits = 32 if image.mode in ("I", "F") else 16 if image.mode.startswith("I;16") else 8
    check_unpacked(width * height * len(image.getbands()) * bits // 8, packed, f"{path}: {width}×{height} pixels")


def _turned(image: Image.Image) -> Image.Image:
    """The image turned upright by its EXIF orientation."""
    try:
        turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    except (OSError, ValueError, SyntaxError, LookupError, TypeError, struct.error):
        return image  # as viewers do: an unreadable orientation is ignored
    return image if turn is None else image.transpose(turn)


def _grey(values: FloatArray, path: Path) -> ImageArray:
    """(H, W) 16-bit whole numbers or floats, as three equal channels."""
    low, high = float(values.min()), float(values.max())
    if not (low >= 0.0 and high <= 65535.0):  # NaN too
        raise ContractError(
            f"{path}: an image of values from {low:g} to {high:g} arrived; 0 to 1, 255 or 65535 is needed, without NaN"
        )
    white = 65535.0
    if values.dtype.kind == "f":
        white = 1.0 if high <= 1.5 else 255.0 if high <= 255.0 else 65535.0
    scaled = values * np.float32(255.0 / white) + np.float32(0.5)
    return np.repeat(np.minimum(scaled, 255.0).astype(np.uint8)[..., None], 3, axis=2)
