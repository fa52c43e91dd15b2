"""Lossless compression of a relative depth map to bytes and back, bit for bit, with a checksum.

Half precision would not do: inverse depth in the thousands would come back in steps of one or two. A network's map is
smooth, hence each value is stored as its difference from the plane through its upper and left neighbours. Differences
are of the bits as integers, so that any number and any NaN survives; the bytes are then sorted by significance, and the
upper byte planes, nearly all zero, compress well at deflate's fastest level.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.runtime.parallel import row_bands
from mrac.types import RelativeDepth

# Written at the start of every file; a change of anything below needs another name here.
_MAGIC: Final = b"mrac-rel-1"
_HEADER: Final = struct.Struct("<16sII")  # space, height, width
_LENGTH: Final = struct.Struct("<I")
_CHECK_BYTES: Final = hashlib.sha256().digest_size
_BAND_PIXELS: Final = 1 << 20  # rows are coded in bands of about this size: 50 megapixels need no second copy
_FASTEST: Final = 1  # deflate's level: 6 takes almost three times as long for a tenth of the size


def encode(key: str, relative: RelativeDepth) -> bytes:
    """The file content of a prediction; `key` is part of its checksum, so that a renamed file is detected."""
    values = np.ascontiguousarray(relative.values, dtype="<f4")
    H, W = values.shape
    body = [_HEADER.pack(relative.space.encode(), H, W)]
    for rows in _bands(H, W):
        packed = zlib.compress(_planes(values[rows].view("<u4")), _FASTEST)
        body += [_LENGTH.pack(len(packed)), packed]
    content = b"".join(body)
    return _MAGIC + _checksum(key, content) + content


def decode(key: str, stored: bytes) -> RelativeDepth | None:
    """The prediction that `encode` was given; None if the bytes are damaged, cut short, of another key or version."""
    start = len(_MAGIC) + _CHECK_BYTES
    content = memoryview(stored)[start:]
    if stored[: len(_MAGIC)] != _MAGIC or stored[len(_MAGIC) : start] != _checksum(key, content):
        return None
    try:
        space, H, W = _HEADER.unpack_from(content)
        return RelativeDepth(_values(content[_HEADER.size :], H, W), space.rstrip(b"\0").decode())
    except (struct.error, zlib.error, ContractError, ValueError):  # an intact checksum over invalid content
        return None


def _values(content: memoryview, H: int, W: int) -> FloatArray:
    bits = np.empty((H, W), "<u4")
    at = 0
    for rows in _bands(H, W):
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        bits[rows] = _bits(zlib.decompress(content[at : at + length]), rows.stop - rows.start, W)
        at += length
    return bits.view("<f4")


def _bands(H: int, W: int) -> Iterator[slice]:
    return row_bands(0, H, max(1, _BAND_PIXELS // W))


def _planes(bits: NDArray[np.uint32]) -> bytes:
    """The four byte planes, lowest first, of the prediction errors of (h, w) bits from their neighbours."""
    left = bits.copy()
    left[:, 1:] -= bits[:, :-1]
    both = left.copy()
    both[1:] -= left[:-1]
    signed = both.view("<i4")
    small = (signed << 1) ^ (signed >> 31)  # −1 becomes 1, not 0xFFFFFFFF: the upper bytes stay zero
    return np.ascontiguousarray(small.view(np.uint8).reshape(-1, 4).T).tobytes()


def _bits(planes: bytes, h: int, w: int) -> NDArray[np.uint32]:
    small = np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(4, h * w).T).view("<u4").reshape(h, w)
    both: NDArray[np.uint32] = (small >> np.uint32(1)) ^ (np.uint32(0) - (small & np.uint32(1)))
    np.cumsum(both, axis=0, dtype="<u4", out=both)
    return np.cumsum(both, axis=1, dtype="<u4", out=both)


def _checksum(key: str, content: bytes | memoryview) -> bytes:
    return hashlib.sha256(key.encode() + hashlib.sha256(content).digest(), usedforsecurity=False).digest()
