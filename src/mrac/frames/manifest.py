"""Which frames of a run are finished: a file of one JSON line for each, beside the results.

A frame's line is appended once its result is whole on disk, so whatever ends a run (a kill, a power cut), a later one
does again what has no line, and nothing else. The first line holds the options: results of other options are not mixed.
"""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from mrac.errors import ContractError
from mrac.io.files import remove_temporary, write_whole
from mrac.io.folders import PART, locked_folder, remove_parts
from mrac.result.folder import RESULT_FILES

Record: TypeAlias = dict[str, Any]
"""A finished frame as plain values; `frame` is its stem, `inputs` the digest of its files."""

_NAME: Final = "manifest.jsonl"


class Manifest:
    """The finished frames of a folder of results.

    Args:
        folder: of the results; made if missing.
        options: that decide the results, as plain values.
        restart: forget what is finished.

    Raises:
        ContractError: the folder holds results of other options; the message names them.
    """

    def __init__(self, folder: Path, options: dict[str, Any], restart: bool = False) -> None:
        self.folder, self._path = folder, folder / _NAME
        self._header = json.loads(json.dumps({"options": options}))
        self._restart = restart
        self._records = self._read()
        self._file: IO[bytes] | None = None
        self._open = ExitStack()

    def _read(self) -> dict[str, Record]:
        lines = [] if self._restart or not self._path.exists() else _whole_lines(self._path)
        if lines:
            options = lines[0].get("options")
            if not isinstance(options, dict):
                raise ContractError(
                    f"{self._path}: its first line, of the options, is damaged; --restart computes all frames anew"
                )
            _check_same(options, self._header["options"], self.folder)
        return {record["frame"]: record for record in lines[1:] if isinstance(record.get("frame"), str)}

    def __enter__(self) -> "Manifest":
        """Starts the file anew, with the whole lines of the old one; removes what a killed run left half-written.

        Raises:
            ContractError: another process is at work in the folder.
        """
        with ExitStack() as stack:
            stack.enter_context(locked_folder(self.folder))
            self._start()
            self._open = stack.pop_all()
        return self

    def _start(self) -> None:
        self._records = self._read()  # another run may have ended since
        lines = [json.dumps(line) + "\n" for line in (self._header, *self._records.values())]
        write_whole(self._path, lambda file: file.write("".join(lines).encode()))
        remove_parts(self.folder)
        remove_temporary(self.folder)
        self._file = self._path.open("ab", buffering=0)  # a line is one write: it is there even if the process is not

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._open.close()

    def finished(self, frame: str, inputs: str, files: Iterable[Path]) -> Record | None:
        """The record of a frame, if it was made from the same inputs and all its files are there."""
        record = self._records.get(frame)
        same = record is not None and record.get("inputs") == inputs
        return record if same and all(file.is_file() for file in files) else None

    def add(self, record: Record) -> None:
        """Records a frame whose result is on disk. Within `with` only."""
        assert self._file is not None
        self._records[record["frame"]] = record
        self._file.write((json.dumps(record) + "\n").encode())

    def part(self, frame: str) -> Path:
        """A new folder to write the files of a frame to, until `commit`."""
        part = self.folder / f"{PART}{frame}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        return part

    def commit(self, part: Path, frame: str, files: Collection[str] = ()) -> None:
        """Moves the result of a frame from `part` to its place, whole.

        Args:
            part: of `part`.
            frame: its stem, the name of its folder.
            files: the names it has in the folder of all results; without them the part becomes a folder there.

        Raises:
            ContractError: a folder of that name holds something else than a result.
        """
        if files:
            for name in files:
                (part / name).replace(self.folder / name)
            part.rmdir()
            return
        target = self.folder / frame
        if target.is_dir():  # of other inputs; until this frame's line is written it counts as not finished
            foreign = [each.name for each in target.iterdir() if each.name not in RESULT_FILES]
            if foreign:
                raise ContractError(
                    f"--out {self.folder}: {target} holds {foreign[0]}, which is no result of a frame; choose another "
                    "folder"
                )
            shutil.rmtree(target)
        part.replace(target)


def inputs_digest(paths: Iterable[Path | None]) -> str:
    """Digest of names, sizes and times of change of files, by which a changed input is noticed without reading it."""
    digest = hashlib.sha256(usedforsecurity=False)
    for path in paths:
        if path is not None and path.exists():
            state = path.stat()
            digest.update(f"\n{path.name} {state.st_size} {state.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """The lines that are whole: the last one of a killed run may not be."""
    lines = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:  # also of bytes that are no text
            continue
        if isinstance(value, dict):
            lines.append(value)
    return lines


def _check_same(old: dict[str, Any], new: dict[str, Any], folder: Path) -> None:
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if changed:
        words = ", ".join(f"{name} was {old.get(name)!r}, now {new.get(name)!r}" for name in changed)
        raise ContractError(
            f"--out {folder}: holds results of other options ({words}); give the same ones to go on, another --out, or "
            "--restart to compute all frames anew"
        )
