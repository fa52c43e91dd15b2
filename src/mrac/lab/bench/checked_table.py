"""Tables in Parquet files that carry a checksum of what they say, so that a flipped bit is noticed.

The format's own checksums are of pages alone, and optional: of 300 flipped bits in cells, 18 were read as good.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.io.files import write_whole

_SUM_KEY: Final = b"mrac.sha256"


class DamagedError(ContractError):
    """A file of a run that cannot be read, or is not as it was written."""


def write_table(path: Path, table: Any, metadata: dict[bytes, bytes], **options: Any) -> None:
    """Writes a `pyarrow.Table` with its metadata and a checksum of both; options are those of pyarrow's writer."""
    _, pq = arrow()
    whole = table.replace_schema_metadata({**metadata, _SUM_KEY: _digest(table, metadata)})
    write_whole(path, lambda file: pq.write_table(whole, file, **options))


def read_table(path: Path) -> tuple[Any, dict[bytes, bytes]]:
    """The table of a file, without metadata; and the metadata.

    Raises:
        DamagedError: it is not readable, or not as it was written. Files from before the checksum have none, and are
            taken as they are.
    """
    _, pq = arrow()
    try:
        stored = pq.ParquetFile(path).read()
        metadata = dict(stored.schema.metadata or {})
        table = stored.replace_schema_metadata(None)
        found = metadata.pop(_SUM_KEY, None)
        same = found is None or found == _digest(table, _ours(metadata))
    except Exception as error:  # of a damaged file pyarrow raises nearly anything
        raise DamagedError(f"{path}: damaged ({first_line(error)})") from None
    if not same:
        raise DamagedError(f"{path}: damaged (its checksum is another)")
    return table, metadata


def _ours(metadata: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {key: value for key, value in metadata.items() if key.startswith(b"mrac.")}


def _digest(table: Any, metadata: dict[bytes, bytes]) -> bytes:
    """Of the values, not of the bytes, which depend on the version of the library that writes them."""
    digest = hashlib.sha256(repr(sorted(metadata.items())).encode())
    for name in table.column_names:
        digest.update(json.dumps([name, table[name].to_pylist()]).encode())
    return digest.hexdigest().encode()


def arrow() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`."""
    try:
        import pyarrow  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("bench", "lab") from None
    return pyarrow, pyarrow.parquet
