"""A finished run as two files, small enough for a repository: run.json and one Parquet file of all rows."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.lab.bench.checked_table import arrow, write_table
from mrac.lab.bench.store import CELL_COLUMNS, COLUMNS, packed_path, read_about, read_run, write_about

# AbsRel and times, which claims are about, to 1 part in 32,768; other metrics of an image to 1 in 2,048: the mean of a
# cell keeps one or two digits more, and tables show three.
_MANTISSA_BITS: Final = {**dict.fromkeys(("sq_rel", "rmse", "rmse_log", "log10"), 10), "abs_rel": 14, "time_ms": 14}
_SHARES: Final = ("delta1", "delta2", "delta3", "clipped_share", "coverage_68", "coverage_90")
_SHARE_STEP: Final = 1 / 1024
# Single precision; their few different values make a dictionary. `fraction` names the cell and stays a double.
_RATIOS: Final = ("gate_precision", "gate_recall", "gate_f1")
_HASH_LENGTH: Final = 12  # of 64 hexadecimal digits: 48 bits tell 40,000 draws of anchors apart
# The bytes of rounded numbers are kept apart by their place (the first resemble each other, the last are zero), which
# this codec makes the most of: the paper's grid takes 1.0 MB, with zstd 1.1, in plain single precision 2.3.
_CODEC: Final = {"compression": "brotli", "compression_level": 11}


def pack_run(run: Path, out: Path) -> int:
    """Writes the finished cells of a run, all columns, metrics rounded and hashes shortened.

    Times are kept of runs on a CPU alone: those of workers that share a GPU say little of one image, and no table
    shows them.

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
    with_times = about.get("device", "cpu") == "cpu"
    table = _rounded(read_run(run).sort_by([(name, "ascending") for name in CELL_COLUMNS]), with_times)
    split = [*_MANTISSA_BITS, *_SHARES]
    apart = [name for name in COLUMNS if name not in split]
    write_about(out, about)
    write_table(packed_path(out), table, {}, use_dictionary=apart, use_byte_stream_split=split, **_CODEC)
    return int(table.num_rows)


def _rounded(table: Any, with_times: bool) -> Any:
    """The table with short numbers and hashes; what is null stays so."""
    pa, _ = arrow()
    import pyarrow.compute as pc  # noqa: PLC0415

    columns = {name: table[name].cast(pa.float32()) for name in _RATIOS}
    columns["anchors_hash"] = pc.utf8_slice_codeunits(table["anchors_hash"], 0, _HASH_LENGTH)
    for name in (*_MANTISSA_BITS, *_SHARES):
        values = table[name].to_numpy().astype(np.float32)
        short = round_mantissa(values, _MANTISSA_BITS[name]) if name in _MANTISSA_BITS else _round_share(values)
        columns[name] = pa.array(short, mask=table[name].is_null().to_numpy())
    if not with_times:
        columns["time_ms"] = pa.nulls(len(table), pa.float32())
    for name, column in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def round_mantissa(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Numbers (N,) rounded to the nearest that has only the first `bits` of its 23 bits behind the binary point."""
    dropped = np.uint32(23 - bits)
    whole = np.nan_to_num(values).view(np.uint32) + (np.uint32(1) << (dropped - np.uint32(1)))
    short: NDArray[np.float32] = (whole >> dropped << dropped).view(np.float32)
    return short


def _round_share(values: NDArray[np.float32]) -> NDArray[np.float32]:
    short: NDArray[np.float32] = (np.rint(values / _SHARE_STEP) * _SHARE_STEP).astype(np.float32)
    return short
