"""Damages the bytes of a good file: flips, cuts, repeats, and puts in what parsers trip over."""

from typing import Final

import numpy as np

_WORDS: Final = (
    b"nan", b"-inf", b"1e400", b"-1", b"0", b"9" * 40, b"9" * 5000, b"\xff\xfe", b"\x00", b"\r", b"\n\n", b",,,",
    b"{}", b"null", b"true", b'"', b"'", b"../", b"\xe2\x80\xae", b"1,5", b"#", b"\xef\xbb\xbf", b"[[[[",
    b"18446744073709551616", b"4294967295",
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"-0.0", b"1e-320", b"0x10", b"1_0", b"\xd9\xa1",
)  # fmt: skip


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The content after one to six random changes."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 7))):
        data = _changed(data, rng)
    return bytes(data)


def _changed(data: bytearray, rng: np.random.Generator) -> bytearray:
    size = len(data)
    at = int(rng.integers(0, size + 1))
    end = min(size, at + int(rng.integers(1, 1 + max(1, min(size, 64)))))
    match int(rng.integers(0, 8)):
        case 0 if size:
            data[at % size] ^= 1 << int(rng.integers(0, 8))
        case 1 if size:
            data[at % size] = int(rng.integers(0, 256))
        case 2:
            del data[at:]
        case 3:
            del data[at:end]
        case 4:
            data[at:at] = data[at:end] * int(rng.integers(1, 20))
        case 5:
            data[at:at] = _WORDS[int(rng.integers(0, len(_WORDS)))]
        case 6:
            data[at:end] = _WORDS[int(rng.integers(0, len(_WORDS)))]
        case _:
            data[at:end] = rng.integers(0, 256, end - at, dtype=np.uint8).tobytes()
    return data
