"""The files of a run, and the only place that knows their layout.

RUN/run.json              what was run, on what, with what
RUN/cells/SET/CONDITION/METHOD.parquet   a finished cell, a row per image; whole or not there
RUN/rows.parquet          finished cells in one small file, by `mrac bench pack`; a run may go on beside it
RUN/journal.jsonl         rows of cells that are not finished yet; gone when all are
"""

import hashlib
import json
import logging
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError
from mrac.io.files import remove_temporary, write_json, write_whole
from mrac.io.input_file import read_bytes, read_json
from mrac.lab.bench.checked_table import DamagedError, arrow, read_table, write_table
from mrac.lab.bench.protocol import Cell, Condition

# Name to type, as Arrow calls it, in the order of the files. Null stands for what a failed image has not, or what is
# not defined.
COLUMNS: Final = {
    "set": "string",
    "image": "string",
    "scene": "string",
    "family": "string",
    "fraction": "double",
    "num_anchors": "int64",
    "seed": "int64",
    "placement": "string",
    "source": "string",
    "method": "string",
    "abs_rel": "double",
    "sq_rel": "double",
    "rmse": "double",
    "rmse_log": "double",
    "log10": "double",
    "delta1": "double",
    "delta2": "double",
    "delta3": "double",
    "clipped_share": "double",
    "num_pixels": "int64",
    "gate_precision": "double",
    "gate_recall": "double",
    "gate_f1": "double",
    "num_anchors_given": "int64",
    "num_wrong": "int64",
    "num_rejected": "int64",
    "coverage_68": "double",
    "coverage_90": "double",
    "status": "string",
    "failure": "string",
    "anchors_hash": "string",
    "foundation": "string",
    "time_ms": "double",
}
CELL_COLUMNS: Final = (
    "set", "source", "placement", "num_anchors", "seed", "family", "fraction", "image", "method"
)  # fmt: skip
"""What tells one row from every other, in the order in which rows that resemble each other lie together."""

_LOG: Final = logging.getLogger("mrac.lab.bench")
_CELL_KEY: Final = b"mrac.cell"
_JOURNAL: Final = "journal.jsonl"
Row = dict[str, Any]


def cell_path(run: Path, cell: Cell) -> Path:
    """Where a finished cell lies."""
    c = cell.condition
    words = (c.family, f"p{c.fraction:g}", f"k{c.num_anchors}", f"seed{c.seed}", c.placement, c.source)
    return run / "cells" / _slug(c.set_name) / _slug("-".join(words)) / f"{_slug(cell.method)}.parquet"


def packed_path(run: Path) -> Path:
    """Where packed cells lie."""
    return run / "rows.parquet"


def write_cell(run: Path, cell: Cell, rows: Sequence[Row]) -> None:
    """Writes the rows of a finished cell, in the order of the set's images."""
    pa, _ = arrow()
    identity = {_CELL_KEY: json.dumps([cell.condition.columns, cell.method]).encode()}
    table = pa.Table.from_pylist([{name: row.get(name) for name in COLUMNS} for row in rows], _schema(pa))
    write_table(cell_path(run, cell), table, identity)


def finished(run: Path, say: Callable[[str], object] = _LOG.warning) -> set[Cell]:
    """The cells that are there and whole; `say` is told of each that is damaged, which counts as not there."""
    cells: set[Cell] = set()
    if packed_path(run).is_file():
        keys = [name for name in CELL_COLUMNS if name != "image"]
        rows = read_table(packed_path(run))[0].select(keys)
        cells.update(map(cell_of, rows.group_by(keys).aggregate([]).to_pylist()))
    for path in _cell_files(run):
        try:
            cells.add(_identity(path, read_table(path)[1]))
        except DamagedError as error:
            say(f"{error}; it is computed again")
    return cells


def _identity(path: Path, metadata: dict[bytes, bytes]) -> Cell:
    try:
        columns, method = json.loads(metadata[_CELL_KEY])
        return cell_of({**columns, "method": method})
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DamagedError(f"{path}: damaged (it does not say which cell it is)") from None


def read_run(run: Path) -> Any:
    """All rows of all finished cells.

    Returns:
        A `pyarrow.Table` with the columns `COLUMNS`.

    Raises:
        ContractError: there is no finished cell, or one is damaged; `mrac bench run` computes it again.
    """
    pa, _ = arrow()
    packed = packed_path(run)
    files = [*([packed] if packed.is_file() else []), *_cell_files(run)]
    if not files:
        raise ContractError(f"bench: {run} has no finished cell; a folder of `mrac bench run --out` is needed")
    # One file at a time: a reader of many would guess partitions from folder names that have "=" in them.
    return pa.concat_tables([read_table(path)[0].cast(_schema(pa)) for path in files])


def read_about(run: Path) -> dict[str, Any] | None:
    """What run.json says, or None where there is none."""
    path = run / "run.json"
    if not path.exists():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise ContractError(f"{path}: not readable (a table is needed in it); another folder is needed")
    return content


def write_about(run: Path, about: dict[str, Any]) -> None:
    """Writes run.json."""
    write_json(run / "run.json", about)


class Journal:
    """Rows of unfinished cells, a line each: what a killed run had computed is there for the next.

    Args:
        run: the folder.
        done: cells whose rows are not needed any more.
    """

    def __init__(self, run: Path, done: set[Cell]) -> None:
        self._path = run / _JOURNAL
        self.rows = [(cell, row) for cell, row in journalled(self._path) if cell not in done]
        # Written anew: without the rows of finished cells, and without the half line that a kill leaves.
        lines = [_line(row) for _, row in self.rows]
        write_whole(self._path, lambda file: file.writelines(lines))

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows; they are on the disk when it returns."""
        with self._path.open("ab") as file:
            file.write(b"".join(map(_line, rows)))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """All cells are finished."""
        self._path.unlink(missing_ok=True)


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Keeps other processes from writing to the same run; a killed one keeps nobody.

    Raises:
        ContractError: another one is at work.
    """
    run.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # Windows has no such lock; nothing but the warning is lost
        yield
        return
    with (run / ".lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ContractError(f"bench: another process is at work in {run}; wait for it or stop it") from None
        for folder in (run, *(run / "cells").glob("*/*")):  # what a killed run left half-written
            remove_temporary(folder)
        yield


def cell_of(row: Row) -> Cell:
    """The cell that a row belongs to."""
    condition = Condition(
        set_name=row["set"],
        source=row["source"],
        placement=row["placement"],
        num_anchors=row["num_anchors"],
        seed=row["seed"],
        family=row["family"],
        fraction=row["fraction"],
    )
    return Cell(condition, row["method"])


def journalled(path: Path) -> Iterator[tuple[Cell, Row]]:
    """The whole rows of a journal, with their cells."""
    if not path.is_file():
        return
    for line in read_bytes(path).split(b"\n")[:-1]:  # the last one has no end: it is empty, or half a line
        row = _row(line)
        if row is not None:
            yield cell_of(row), row


def _line(row: Row) -> bytes:
    content = json.dumps({key: value for key, value in row.items() if value is not None}).encode()
    return content + b" %08x\n" % zlib.crc32(content)


def _row(line: bytes) -> Row | None:
    """The row of a line, None of a damaged one: it is computed again. Lines from before the checksum have none."""
    content, _, found = line.rpartition(b" ")
    if not line.endswith(b"}"):
        if found != b"%08x" % zlib.crc32(content):
            return None
        line = content
    try:
        row: Row = json.loads(line)
        cell_of(row), row["image"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return row


def _cell_files(run: Path) -> list[Path]:
    return sorted((run / "cells").glob("*/*/[!.]*.parquet"))


def _slug(text: str) -> str:
    """A file name: as it is where that is one, else made one, with a hash that keeps two texts apart."""
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "_", text).strip(".")[:100]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _schema(pa: Any) -> Any:
    return pa.schema(list(COLUMNS.items()))
