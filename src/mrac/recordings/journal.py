"""Finished frames of a run in one growing file: whatever ends the run, what was finished is there, once.

A frame is appended as one record with its length and checksum. After a kill the file ends with a part of a record at
most; it is cut off, and that frame is done again. The first record holds the options: another run's are refused.
"""

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Self

from mrac.errors import ContractError
from mrac.io.folders import try_lock

_HEAD: Final = struct.Struct("<4sQI")  # a mark, the length of what follows, its checksum
_MARK: Final = b"mrac"
_PART: Final = struct.Struct("<I")  # length of the description


@dataclass(frozen=True, eq=False)
class Entry:
    """A finished frame.

    Attributes:
        about: plain values: `frame` is its number.
        messages: (channel, bytes) of each message, as they are to be written.
    """

    about: dict[str, Any]
    messages: list[tuple[str, bytes]]

    def to_bytes(self) -> bytes:
        """As it is stored."""
        sizes = [[channel, len(content)] for channel, content in self.messages]
        text = json.dumps({"about": self.about, "messages": sizes}).encode()
        return b"".join([_PART.pack(len(text)), text, *(content for _, content in self.messages)])

    @classmethod
    def of_bytes(cls, stored: bytes) -> Self:
        """The inverse of `to_bytes`."""
        (length,) = _PART.unpack_from(stored)
        at = _PART.size + length
        described = json.loads(stored[_PART.size : at])
        messages = []
        for channel, size in described["messages"]:
            messages.append((channel, stored[at : at + size]))
            at += size
        return cls(described["about"], messages)


class Journal:
    """The file, opened for appending by one run at a time.

    Args:
        path: of the file; made if missing.
        options: plain values that decide the result.
        found: called with what each frame that is finished already says of itself.

    Attributes:
        num_entries: finished frames.

    Raises:
        ContractError: the file is of other options, which the message names, or another run is writing to it.
    """

    def __init__(
        self, path: Path, options: dict[str, Any], found: Callable[[dict[str, Any]], object] = lambda about: None
    ) -> None:
        self.path = path
        self.num_entries = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        try:
            self._begin(json.loads(json.dumps(options)), found)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, options: dict[str, Any], found: Callable[[dict[str, Any]], object]) -> None:
        if not try_lock(self._file.fileno()):
            raise ContractError(f"bag: another run is writing to {self.path}; wait for it, or choose another --out")
        last, stored = 0, None
        for end, content in whole_records(self._file):
            last = end
            about = Entry.of_bytes(content).about
            if stored is not None:
                self.num_entries += 1
                found(about)
                continue
            stored = about
            if stored != options:
                names = sorted(n for n in {*stored, *options} if stored.get(n) != options.get(n))
                raise ContractError(
                    f"bag: {self.path.parent} holds frames of a run with other options ({', '.join(names)}); give the "
                    "same again, --restart to compute all anew, or another --out"
                )
        if stored is None:
            self._file.truncate(0)
            self._append(Entry(options, []))
            return
        self._file.truncate(last)
        self._file.seek(last)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, entry: Entry) -> None:
        """Appends a finished frame."""
        self._append(entry)
        self.num_entries += 1

    def entries(self) -> Iterator[Entry]:
        """All finished frames in their order, one in memory at a time."""
        with self.path.open("rb") as file:
            for number, (_, content) in enumerate(whole_records(file)):
                if number:
                    yield Entry.of_bytes(content)

    def _append(self, entry: Entry) -> None:
        content = entry.to_bytes()
        record = _HEAD.pack(_MARK, len(content), zlib.crc32(content)) + content
        written = 0
        while written < len(record):  # a raw file may take less than it is given
            written += self._file.write(memoryview(record)[written:]) or 0


def whole_records(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(end, content) of the whole records from the file's beginning on."""
    size, at = os.fstat(file.fileno()).st_size, 0
    while at + _HEAD.size <= size:
        file.seek(at)
        mark, length, checksum = _HEAD.unpack(_read(file, _HEAD.size))
        if mark != _MARK or at + _HEAD.size + length > size:
            return
        content = _read(file, length)
        if zlib.crc32(content) != checksum:
            return
        at += _HEAD.size + length
        yield at, content


def _read(file: IO[bytes], length: int) -> bytes:
    parts = []
    while length:
        part = file.read(length)
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
