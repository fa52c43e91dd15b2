"""The manifest of a batch job: which result was made of which content.

`manifest.jsonl` has one record for each frame, sorted by id, and nothing that differs between two runs over the same
input. While a job runs, every worker appends to a file of its own in `.batch/`, so that none waits for another and a
killed one can spoil no line but its last. A record is written before its file gets its name: a frame is committed when
record and file agree, and a kill between the two leaves a frame that is done again.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

from mrac.batch_jobs.job import Record
from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.io.folders import try_lock

MANIFEST: Final = "manifest.jsonl"
_WORK: Final = ".batch"
_PARTS: Final = "parts"


def read_manifest(out: Path) -> dict[str, tuple[Record, ...]]:
    """By id, all records of a folder: of finished jobs and of those that were killed."""
    found: dict[str, list[Record]] = {}
    for path in (out / MANIFEST, *sorted((out / _WORK).glob("*.jsonl"))):
        if path.is_file():
            for line in path.read_bytes().splitlines():
                record = Record.of_line(line)
                if record is not None:
                    found.setdefault(record.id, []).append(record)
    return {name: tuple(records) for name, records in found.items()}


def append(out: Path, record: Record) -> None:
    """Adds a record to this process's own file: one write, which the end of the process does not undo."""
    with _own_file(str(out), os.getpid()).open("ab", buffering=0) as file:
        file.write(record.to_line())


def work_folder(out: Path) -> Path:
    """The folder for what a running job needs; it is gone when the job came to its end."""
    return out / _WORK


def new_part(out: Path, suffix: str) -> Path:
    """The name of a file that is being written, on the file system of the results."""
    return out / _WORK / _PARTS / f"{os.getpid()}-{secrets.token_hex(6)}{suffix}"


def finish(out: Path, records: Iterable[Record]) -> None:
    """Writes the manifest of a job that came to its end, and removes the workers' files."""
    lines = b"".join(record.to_line() for record in sorted(records, key=lambda record: record.id))
    write_whole(out / MANIFEST, lambda file: file.write(lines))
    for path in (out / _WORK).glob("*.jsonl"):
        path.unlink()
    shutil.rmtree(out / _WORK, ignore_errors=True)


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Makes the folder ready for workers, and keeps a second job out of it.

    Raises:
        ContractError: another job is writing to it.
    """
    (out / _WORK).mkdir(parents=True, exist_ok=True)
    with (out / _WORK / "lock").open("wb") as lock:
        if not try_lock(lock.fileno()):
            raise ContractError(f"batch: another job is writing to {out}; wait for it, or choose another --out")
        for left in (path for path in (out / _WORK).iterdir() if path.is_dir()):  # by workers that were killed
            shutil.rmtree(left, ignore_errors=True)
        (out / _WORK / _PARTS).mkdir()
        yield


@lru_cache(maxsize=4)
def _own_file(out: str, pid: int) -> Path:  # the process is part of the key: a fork has a file of its own
    return Path(out) / _WORK / f"{pid}-{secrets.token_hex(6)}.jsonl"
