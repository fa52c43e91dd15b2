"""Pixels of ROS image messages: sensor_msgs Image and CompressedImage, colour or depth (REP 118)."""

import struct
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.image import open_image, read_image
from mrac.recordings.bayer import PATTERNS, demosaic

# Encoding: type of a number, numbers per pixel, and which of them are red, green and blue.
_COLOURS: Final = {
    "rgb8": ("u1", 3, (0, 1, 2)),
    "rgba8": ("u1", 4, (0, 1, 2)),
    "bgr8": ("u1", 3, (2, 1, 0)),
    "bgra8": ("u1", 4, (2, 1, 0)),
    "8UC3": ("u1", 3, (2, 1, 0)),  # OpenCV's order
    "8UC4": ("u1", 4, (2, 1, 0)),
    "rgb16": ("u2", 3, (0, 1, 2)),
    "bgr16": ("u2", 3, (2, 1, 0)),
    "mono8": ("u1", 1, (0, 0, 0)),
    "8UC1": ("u1", 1, (0, 0, 0)),
    "mono16": ("u2", 1, (0, 0, 0)),
    "16UC1": ("u2", 1, (0, 0, 0)),
    **{f"{name}8": ("u1", 1, (0, 0, 0)) for name in PATTERNS},
    **{f"{name}16": ("u2", 1, (0, 0, 0)) for name in PATTERNS},
}
_DEPTHS: Final = {"32FC1": "f4", "64FC1": "f8", "16UC1": "u2", "mono16": "u2"}
_MM_PER_M: Final = 1000.0
# Before the PNG of compressedDepth: an enumeration and two parameters of the quantisation (compressed_depth_image_
# transport's ConfigHeader). The enumeration is not to be trusted, the encoding's name is.
_DEPTH_HEADER: Final = struct.Struct("<iff")


class DepthImage(NamedTuple):
    """(h, w) numbers and how many of them are a metre; 0, NaN and infinities are no reading."""

    values: NDArray[Any]
    per_metre: float


def colour_image(message: Any) -> ImageArray:
    """(H, W, 3) uint8 RGB of an Image or a CompressedImage, of rosbags or of rclpy.

    16 bits are scaled to 8 by their full range, as `mrac.io.image.read_image` does; Bayer patterns are interpolated.

    Raises:
        ContractError: the encoding is not one that is known, or the data are shorter than the size says.
    """
    if not hasattr(message, "encoding"):
        if _is_compressed_depth(message):
            raise ContractError(f"image: {message.format!r} is a depth image; give its topic as --depth-topic")
        return read_image(f"CompressedImage of format {message.format!r}", bytes(message.data))
    encoding = str(message.encoding)
    if encoding not in _COLOURS:
        raise ContractError(
            f"image: the encoding {encoding!r} arrived; one of {', '.join(_COLOURS)} is needed: convert it by "
            "image_proc, or record the compressed topic"
        )
    kind, channels, order = _COLOURS[encoding]
    pixels = _pixels(message, kind, channels)
    if kind == "u2":  # the upper byte, rounded
        pixels = np.minimum((pixels.astype(np.uint32) + 128) // 257, 255).astype(np.uint8)
    pattern = encoding.rstrip("0123456789")
    if pattern in PATTERNS:
        return demosaic(pixels[..., 0], pattern)
    return np.ascontiguousarray(pixels[..., list(order)])


def depth_image(message: Any) -> DepthImage:
    """The numbers of a depth image: 32FC1 metres, 16UC1 millimetres (REP 118), raw, as PNG or as compressedDepth.

    Raises:
        ContractError: the message is not a depth image, or its data are cut or not a PNG.
    """
    if not hasattr(message, "encoding"):
        return _compressed_depth(message)
    encoding = str(message.encoding)
    if encoding not in _DEPTHS:
        raise ContractError(
            f"depth image: the encoding {encoding!r} arrived; 32FC1 (metres) or 16UC1 (millimetres) is needed (REP 118)"
        )
    kind = _DEPTHS[encoding]
    return DepthImage(_pixels(message, kind, 1)[..., 0], _MM_PER_M if kind == "u2" else 1.0)


def _pixels(message: Any, kind: str, channels: int) -> NDArray[Any]:
    """(H, W, channels) as stored, rows without their padding, in this machine's byte order."""
    height, width, step = int(message.height), int(message.width), int(message.step)
    dtype = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    row = width * channels * dtype.itemsize
    data = np.frombuffer(message.data, np.uint8)
    step = step or row
    if not height or not width or step < row or data.size < step * (height - 1) + row:
        raise ContractError(
            f"image: {data.size} bytes arrived for {width}×{height} pixels of {message.encoding} with rows of {step} "
            f"bytes; {height} rows of at least {row} bytes are needed"
        )
    rows = np.lib.stride_tricks.as_strided(data, (height, row), (step, 1), writeable=False)
    values = np.ascontiguousarray(rows).view(dtype).reshape(height, width, channels)
    return values.astype(dtype.newbyteorder("="), copy=False)


def _is_compressed_depth(message: Any) -> bool:
    return "compressedDepth" in str(message.format)


def _compressed_depth(message: Any) -> DepthImage:
    """Of a PNG by itself (16UC1), or behind the header of compressedDepth, where 32FC1 is stored as inverse depth."""
    stated, content = str(message.format), bytes(message.data)
    encoding = stated.partition(";")[0].strip()
    parameters = (0.0, 0.0)
    if _is_compressed_depth(message):
        if "rvl" in stated.lower():
            raise ContractError(f"depth image: the format {stated!r} arrived; PNG is needed, RVL is not read")
        if len(content) < _DEPTH_HEADER.size:
            raise ContractError(f"depth image: {len(content)} bytes of {stated!r} arrived; a header and a PNG needed")
        parameters = _DEPTH_HEADER.unpack_from(content)[1:]
        content = content[_DEPTH_HEADER.size :]
    with open_image(Path(f"CompressedImage of format {stated!r}"), content) as picture:
        if not picture.mode.startswith("I"):
            raise ContractError(f"depth image: {stated!r} holds a picture of mode {picture.mode}; 16 bits are needed")
        stored = np.asarray(picture).astype(np.uint16)
    if encoding != "32FC1":
        return DepthImage(stored, _MM_PER_M)
    if not _is_compressed_depth(message):
        raise ContractError(f"depth image: the format {stated!r} arrived; floats are needed as compressedDepth or raw")
    return DepthImage(_from_inverse(stored, *parameters), 1.0)


def _from_inverse(stored: NDArray[np.uint16], a: float, b: float) -> FloatArray:
    """Metres of quantised inverse depth; 0 where nothing was measured."""
    steps = stored.astype(np.float64) - b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((stored > 0) & (steps > 0.0), a / steps, 0.0)
