"""Frames of a Parquet file: one row each.

Columns: `id`; `image` (the bytes of a PNG, JPEG, ... file) or `path` (of one, absolute or beside the Parquet file);
`u_px`, `v_px`, `z_m` (lists of equal length); optionally `sigma_m` (likewise).
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mrac.batch_jobs.job import Frame
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.io.input_file import inside, read_bytes

if TYPE_CHECKING:
    from mrac.anchors import Anchors

_NEEDED: Final = ("id", "u_px", "v_px", "z_m")
_IMAGE: Final = ("image", "path")
# Rows that are read at once and kept: bytes of images are the most of them.
_ROWS_AT_ONCE: Final = 16


def frames_in(path: Path) -> Iterator[Frame]:
    """The frames of a file, in its order; only ids are read.

    Raises:
        ContractError: the file is not readable, or lacks a column.
        MissingExtra: pyarrow is not installed.
    """
    file = _opened(str(path))
    names = file.schema_arrow.names
    missing = [name for name in _NEEDED if name not in names]
    if missing or not any(name in names for name in _IMAGE):
        lacking = missing[0] if missing else "image or path"
        raise ContractError(
            f"batch: {path} has the columns {', '.join(names)}; {lacking} is missing: id, image (bytes) or path, u_px, "
            "v_px, z_m are needed"
        )
    row = 0
    for batch in file.iter_batches(columns=["id"]):
        for value in batch.column(0).to_pylist():
            yield Frame(str(value), str(path), row=row)
            row += 1


def row_content(path: str, row: int) -> tuple[bytes, str, "Anchors"]:
    """The bytes of a row's image, its name for errors, and its readings.

    Raises:
        ContractError: an entry is empty or of another kind, or the image's file is missing.
    """
    from mrac.anchors import Anchors  # noqa: PLC0415

    values = _rows(path, row // _ROWS_AT_ONCE)[row % _ROWS_AT_ONCE]
    where = f"{path}: row {row}"
    columns: dict[str, Any] = {name: values.get(name) for name in ("u_px", "v_px", "z_m")}
    lengths = {name: None if value is None else np.size(value) for name, value in columns.items()}
    if None in lengths.values() or len(set(lengths.values())) != 1:
        raise ContractError(f"{where}: lists of lengths {lengths} arrived; u_px, v_px and z_m of one length are needed")
    uv_px = np.stack([columns["u_px"], columns["v_px"]], axis=1)
    anchors = Anchors(uv_px, columns["z_m"], values.get("sigma_m"))
    content = values.get("image")
    if isinstance(content, dict):  # as Hugging Face's image column has it
        content = content.get("bytes")
    if isinstance(content, bytes):
        return content, where, anchors
    named = values.get("path")
    if not isinstance(named, str):
        raise ContractError(f"{where}: neither bytes in `image` nor a name in `path`; one of them is needed")
    file = inside(Path(path).parent, named, where)
    return read_bytes(file, where), str(file), anchors


@lru_cache(maxsize=2)
def _rows(path: str, number: int) -> list[dict[str, Any]]:
    """The rows of one span of a file; whole row groups are decoded for it, so spans are kept."""
    file = _opened(path)
    columns = [name for name in (*_NEEDED, *_IMAGE, "sigma_m") if name in file.schema_arrow.names]
    first, last = number * _ROWS_AT_ONCE, (number + 1) * _ROWS_AT_ONCE
    found: list[dict[str, Any]] = []
    start = 0
    for group in range(file.num_row_groups):
        stop = start + file.metadata.row_group(group).num_rows
        if start < last and stop > first:
            table = _group(path, group, tuple(columns))
            low = max(first - start, 0)
            found += table.slice(low, min(last, stop) - start - low).to_pylist()
        start = stop
    return found


@lru_cache(maxsize=2)
def _group(path: str, group: int, columns: tuple[str, ...]) -> Any:
    return _opened(path).read_row_group(group, columns=list(columns))


@lru_cache(maxsize=8)
def _opened(path: str) -> Any:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("batch: Parquet files", "ray") from None
    try:
        return parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise ContractError(f"batch: {path}: not a readable Parquet file ({first_line(error)})") from None
