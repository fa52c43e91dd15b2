"""The files of a run, and the only place that knows their layout.

RUN/run.json              what was run, on what, with what
RUN/cells/SET/CONDITION/METHOD.parquet   a finished cell, a row per image; whole or not there
RUN/rows.parquet          finished cells in one small file, by `mrac bench pack`; a run may go on beside it
RUN/journal.jsonl         rows of cells that are not finished yet; gone when all are
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError, MissingExtra
from mrac.io.files import write_json, write_whole
from mrac.lab.bench.protocol import Cell, Condition

# Name to type, in the order of the files. Null stands for what a failed image has not, or what is not defined.
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
    pa, pq = arrow()
    identity = {_CELL_KEY: json.dumps([cell.condition.columns, cell.method]).encode()}
    table = pa.Table.from_pylist([{name: row.get(name) for name in COLUMNS} for row in rows], _schema(pa))
    write_whole(cell_path(run, cell), lambda file: pq.write_table(table.replace_schema_metadata(identity), file))


def finished(run: Path) -> set[Cell]:
    """The cells that are there."""
    _, pq = arrow()
    cells: set[Cell] = set()
    if packed_path(run).is_file():
        keys = [name for name in CELL_COLUMNS if name != "image"]
        rows = pq.ParquetFile(packed_path(run)).read(columns=keys)
        cells.update(map(cell_of, rows.group_by(keys).aggregate([]).to_pylist()))
    for path in _cell_files(run):
        columns, method = json.loads(pq.read_schema(path).metadata[_CELL_KEY])
        columns["set_name"] = columns.pop("set")
        cells.add(Cell(Condition(**columns), method))
    return cells


def read_run(run: Path) -> Any:
    """All rows of all finished cells.

    Returns:
        A `pyarrow.Table` with the columns `COLUMNS`.

    Raises:
        ContractError: there is no finished cell.
    """
    pa, pq = arrow()
    packed = packed_path(run)
    files = [*([packed] if packed.is_file() else []), *_cell_files(run)]
    if not files:
        raise ContractError(f"bench: {run} has no finished cell; a folder of `mrac bench run --out` is needed")
    # One file at a time: a reader of many would guess partitions from folder names that have "=" in them.
    tables = [pq.ParquetFile(path).read().replace_schema_metadata(None) for path in files]
    return pa.concat_tables([table.cast(_schema(pa)) for table in tables])


def read_about(run: Path) -> dict[str, Any] | None:
    """What run.json says, or None where there is none."""
    try:
        content: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise ContractError(f"{run / 'run.json'}: not readable ({error}); another folder is needed") from None
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
        self.rows = [(cell, row) for cell, row in _journalled(self._path) if cell not in done]
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


def _journalled(path: Path) -> Iterator[tuple[Cell, Row]]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                row = json.loads(line)
                yield cell_of(row), row


def _line(row: Row) -> bytes:
    return json.dumps({key: value for key, value in row.items() if value is not None}).encode() + b"\n"


def _cell_files(run: Path) -> list[Path]:
    return sorted((run / "cells").glob("*/*/[!.]*.parquet"))


def _slug(text: str) -> str:
    """A file name: as it is where that is one, else made one, with a hash that keeps two texts apart."""
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "_", text).strip(".")[:100]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


_ARROW: Final = {"double": "float64"}


def _schema(pa: Any) -> Any:
    return pa.schema([(name, getattr(pa, _ARROW.get(kind, kind))()) for name, kind in COLUMNS.items()])


def arrow() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`."""
    try:
        import pyarrow  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("bench", "lab") from None
    return pyarrow, pyarrow.parquet
