"""Reads the wire format of Protocol Buffers: the fields of a message, without its schema."""

from collections.abc import Iterator
from typing import Final

_FIXED: Final = {1: 8, 5: 4}  # wire types of a fixed length
_VARINT, _LENGTH = 0, 2
_MAX_VARINT: Final = 10  # bytes, of a number of 64 bits


def messages(content: memoryview, wanted: int) -> Iterator[memoryview]:
    """The values of one field, where they are messages, texts or packed numbers."""
    for field, value in fields(content):
        if field == wanted and not isinstance(value, int):
            yield value


def fields(content: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of the fields of a message: an integer, or the bytes of anything else.

    Raises:
        ValueError: it ends within a field, or has a group, which no writer of this century makes.
    """
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(content, at)
            yield field, value
            continue
        if kind == _LENGTH:
            length, at = _varint(content, at)
        elif kind in _FIXED:
            length = _FIXED[kind]
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        if at + length > len(content):
            raise ValueError(f"a field of {length:,} bytes where {len(content) - at:,} are left")
        yield field, content[at : at + length]
        at += length


def varints(content: memoryview) -> Iterator[int]:
    """Packed integers.

    Raises:
        ValueError: it ends within one.
    """
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """An integer of seven bits a byte, the lowest first, and the place behind it."""
    value = shift = 0
    for place in range(at, min(at + _MAX_VARINT, len(content))):
        byte = content[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise ValueError(f"a number without an end at byte {at}")
