"""Reads and writes files: errors name the file, writes are atomic."""

import hashlib
import json
import math
import os
import re
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.image import open_image

# The PNG text entry that states how stored values become metres; our own files have it, so they can be read back.
SCALE_KEY = "depth_m = value / scale; scale"
_TEMPORARY: Final = re.compile(r"\..+\.[0-9a-f]{8}")  # as `write_whole` names them
PNG_LEVEL = 4  # of compression: Pillow's 6 takes more than twice as long, for files that are 5 to 8 % smaller


def user_path(text: str) -> Path:
    """The path in a spec, `~` expanded: after `onnx:` no shell does it."""
    return Path(os.path.expanduser(text))  # noqa: PTH111  (pathlib's raises for an unknown user)


def read_png16(path: Path) -> tuple[NDArray[np.int64], float | None]:
    """A 16-bit PNG as (H, W) integers, and its scale if the file states one.

    Raises:
        ContractError: the file is missing, not an image, or of 8 bits.
    """
    with open_image(path) as image:
        if not image.mode.startswith("I"):
            raise ContractError(f"{path}: a 16-bit grey PNG is needed, a {image.mode} image arrived")
        return np.asarray(image).astype(np.int64), stated_scale(image, path)


def stated_scale(image: Image.Image, path: Path) -> float | None:
    """The scale that an image file states in its text, stored units per metre; None without one.

    Raises:
        ContractError: the text is no such number.
    """
    text = image.info.get(SCALE_KEY)
    if text is None:
        return None
    try:
        scale = float(str(text))
    except ValueError:
        scale = math.nan
    if not 1e-6 <= scale <= 1e9:
        raise ContractError(f"{path}: its text states a depth scale of {text!r}; a number > 0 is needed")
    return scale


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, write: Callable[[IO[bytes]], object], part: Path | None = None) -> None:
    """Writes a file atomically: a reader sees the old one or the complete new one, never a part.

    Args:
        path: of the file; its folder is created.
        write: writes the content to an open file.
        part: the temporary file, in the same folder; by default a hidden one with a random name.

    Raises:
        OSError: with the name of the file, also of a full disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise ContractError(f"{path}: is a folder; a file is to be written there")
    part = part or path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            write(file)
            file.flush()
            # Without this a power cut may leave the new name on an empty file.
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        cause = _system_error(error)
        if cause is not None:  # of a full disk the system names no file, and libraries hide it in errors of their own
            raise OSError(cause.errno, cause.strerror, str(path)) from error
        raise


def remove_temporary(folder: Path) -> None:
    """Removes what killed processes left of `write_whole` in a folder, for one who knows that no other writes there."""
    for path in folder.glob(".*"):
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


def _system_error(error: BaseException | None) -> OSError | None:
    """The system's error, with its number, that led to this one."""
    while error is not None:
        if isinstance(error, OSError) and error.errno is not None:
            return error
        error = error.__context__
    return None


def write_arrays(path: Path, **arrays: NDArray[Any]) -> None:
    """Writes an .npz; see `save_arrays`."""
    write_whole(path, lambda file: save_arrays(file, **arrays))


def save_arrays(file: IO[bytes], **arrays: NDArray[Any]) -> None:
    """An .npz into an open file, compressed at the fastest level: numpy's takes three times as long, without gain."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:  # its size is not known before
                np.lib.format.write_array(member, array, allow_pickle=False)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes plain values as indented JSON; NaN and infinities are refused rather than written as invalid JSON."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def write_depth_png(path: Path, depth_m: FloatArray) -> float:
    """Writes depth (H, W) in metres as a 16-bit PNG, value = round(depth · scale), and returns the scale.

    The scale is the finest of 1000 (millimetres), 256 (KITTI's) and 6 per metre that holds the farthest pixel, stated
    in the file's text; a depth under half a step becomes 1, since 0 means "no depth".
    """
    scale = 0.0

    def write(file: IO[bytes]) -> None:
        nonlocal scale
        scale = save_depth_png(file, depth_m)

    write_whole(path, write)
    return scale


def save_depth_png(file: IO[bytes], depth_m: FloatArray) -> float:
    """The same into an open file."""
    farthest = float(depth_m.max())
    scale = next((s for s in (1000.0, 256.0) if farthest * s <= 65535.0), 6.0)
    steps = depth_m * np.float32(scale)  # in place from here: at 50 megapixels every copy counts
    np.clip(np.rint(steps, out=steps), 1, 65535, out=steps)
    stored = steps.astype(np.uint16)
    Image.fromarray(stored).save(file, format="PNG", pnginfo=scale_text(scale), compress_level=PNG_LEVEL)
    return scale


def scale_text(scale: float) -> PngImagePlugin.PngInfo:
    """The text of a PNG by which `stated_scale` gives this scale again, to six digits."""
    text = PngImagePlugin.PngInfo()
    text.add_text(SCALE_KEY, f"{scale:g}")
    return text
