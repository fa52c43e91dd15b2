"""Least-recently-used cache of relative depth maps in a folder, one file each.

Safe with many processes and after any crash: a file is written under another name, flushed to the disk and renamed, and
what is read is verified. A cache that cannot be read or written costs time but raises nothing: the first failure is
logged as a warning.
"""

import logging
import os
import re
import secrets
import time
from pathlib import Path
from typing import Final, NamedTuple

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.runtime.cache.codec import decode, encode
from mrac.types import RelativeDepth

DEFAULT_MAX_BYTES: Final = 2 << 30
_LOG: Final = logging.getLogger("mrac.runtime.cache")
# Only files that match these are ever deleted: the folder is the user's, and may hold anything else.
_WHOLE: Final = re.compile(r"[0-9a-f]{64}\.rel")
_PART: Final = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{8}\.part")
# No write takes an hour: a part older than that was left by a process that died.
_STALE_S: Final = 3600.0


class CacheInfo(NamedTuple):
    """Size of a cache.

    Attributes:
        folder: its path.
        num_files: complete predictions in it.
        num_bytes: their size.
        max_bytes: the largest allowed size.
    """

    folder: Path
    num_files: int
    num_bytes: int
    max_bytes: int


class _Entry(NamedTuple):
    used_ns: int
    num_bytes: int
    path: Path


class PredictionCache:
    """On-disk cache of relative depth by key. Threads may share it, and processes its folder.

    Args:
        folder: created on the first write.
        max_bytes: after each write the least recently used files are deleted until no more than this is left.

    Raises:
        ContractError: `max_bytes` is negative.
    """

    def __init__(self, folder: Path | str, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if max_bytes < 0:
            raise ContractError(f"cache: max_bytes = {max_bytes} arrived; 0 or more is needed")
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self._warned = False

    def __repr__(self) -> str:
        return f"PredictionCache({str(self.folder)!r}, max_bytes={self.max_bytes})"

    def get(self, key: str) -> RelativeDepth | None:
        """The prediction stored under `key`, bit for bit; None if there is none or its file is damaged."""
        path = self._path(key)
        try:
            stored = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn("read", error)
            return None
        found = decode(key, stored)
        if found is not None:
            self._touch(path)
        return found

    def put(self, key: str, relative: RelativeDepth) -> None:
        """Stores `relative` under `key`, replacing an older one; a file larger than the whole cache is not stored."""
        stored = encode(key, relative)
        if len(stored) > self.max_bytes:
            return
        try:
            path = self._path(key)
            part = path.with_suffix(f".{secrets.token_hex(4)}.part")
            write_whole(path, lambda file: file.write(stored), part)
            self._evict()
        except (OSError, ContractError) as error:  # the second if the path is a folder
            self._warn("write", error)

    def info(self) -> CacheInfo:
        """The size of the cache; a missing folder is an empty cache."""
        whole, _ = self._listing()
        return CacheInfo(self.folder, len(whole), sum(entry.num_bytes for entry in whole), self.max_bytes)

    def clear(self) -> int:
        """Deletes all predictions and all partial files, nothing else; returns the number of predictions deleted.

        Raises:
            OSError: a file could not be deleted.
        """
        whole, parts = self._listing()
        for entry in (*whole, *parts):
            entry.path.unlink(missing_ok=True)
        return len(whole)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.rel"

    def _evict(self) -> None:
        """Deletes partial files of dead processes, then the least recently used predictions beyond the limit."""
        whole, parts = self._listing()
        dead_ns = time.time_ns() - int(_STALE_S * 1e9)
        for entry in parts:
            if entry.used_ns < dead_ns:
                entry.path.unlink(missing_ok=True)
        excess = sum(entry.num_bytes for entry in whole) - self.max_bytes
        for entry in sorted(whole):
            if excess <= 0:
                break
            entry.path.unlink(missing_ok=True)  # another process may have been faster
            excess -= entry.num_bytes

    def _listing(self) -> tuple[list[_Entry], list[_Entry]]:
        """The complete and the partial files; those deleted meanwhile are left out."""
        whole: list[_Entry] = []
        parts: list[_Entry] = []
        try:
            paths = list(self.folder.iterdir())
        except FileNotFoundError:
            return whole, parts
        for path in paths:
            found = whole if _WHOLE.fullmatch(path.name) else parts if _PART.fullmatch(path.name) else None
            if found is None:
                continue
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            found.append(_Entry(stat.st_mtime_ns, stat.st_size, path))
        return whole, parts

    @staticmethod
    def _touch(path: Path) -> None:
        """Records the use as time of modification, since most systems do not keep the time of access."""
        try:
            os.utime(path)
        except OSError:
            return  # a read-only cache can still be read; its order of use is then that of writing

    def _warn(self, what: str, error: OSError | ContractError) -> None:
        """Logs once per cache that it does not work; Python's warnings could be turned into errors."""
        if not self._warned:
            self._warned = True
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            _LOG.warning("mrac: cannot %s the prediction cache %s (%s); going on without it", what, self.folder, reason)
