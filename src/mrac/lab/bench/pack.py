"""A finished run as two files, small enough for a repository: run.json and one Parquet file of all rows."""

from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.store import CELL_COLUMNS, COLUMNS, arrow, packed_path, read_about, read_run, write_about

# Half of a double's digits are noise of the arithmetic; `fraction` names the cell and stays as it is.
_SINGLE: Final = [name for name, kind in COLUMNS.items() if kind == "double" and name != "fraction"]
# Few different values: a dictionary of them is shortest. All other numbers hardly repeat, but their first bytes do,
# so these are kept apart from the last ones: the paper's grid takes 2.3 MB so, 3.6 with dictionaries alone.
_REPEATED: Final = frozenset(("gate_precision", "gate_recall", "gate_f1"))
_LEVEL: Final = 19


def pack_run(run: Path, out: Path) -> int:
    """Writes the finished cells of a run, all columns, numbers in single precision.

    Args:
        run: a folder of `mrac bench run`, or of this.
        out: another folder; what is packed in it is replaced.

    Returns:
        How many rows.

    Raises:
        ContractError: `run` has no finished cell or no run.json, or `out` is a run itself.
    """
    about = read_about(run)
    if about is None:
        raise ContractError(f"bench pack: {run} has no run.json; a folder of `mrac bench run --out` is needed")
    if (out / "cells").exists() or out.resolve() == run.resolve():
        raise ContractError(f"bench pack: {out} is a run; another --out is needed")
    pa, pq = arrow()
    table = read_run(run).sort_by([(name, "ascending") for name in CELL_COLUMNS])
    for name in _SINGLE:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.float32()))
    split = [name for name in _SINGLE if name not in _REPEATED]

    def write(file: Any) -> None:
        pq.write_table(
            table,
            file,
            compression="zstd",
            compression_level=_LEVEL,
            use_dictionary=[name for name in COLUMNS if name not in split],
            use_byte_stream_split=split,
        )

    write_about(out, about)
    write_whole(packed_path(out), write)
    return int(table.num_rows)
