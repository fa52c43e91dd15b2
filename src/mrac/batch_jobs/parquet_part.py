"""A result as a Parquet file of one row: a folder of them is one Parquet data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mrac.errors import MissingExtra
from mrac.io.files import write_whole

if TYPE_CHECKING:
    from mrac.result import MetricDepth


def write_part(path: Path, frame_id: str, result: "MetricDepth") -> None:
    """Writes id, status, height, width, depth_m and sigma_m (row by row) and the verdicts on the readings.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("batch: Parquet files", "ray") from None
    height, width = result.depth_m.shape
    columns = {
        "id": pa.array([frame_id]),
        "status": pa.array([result.status]),
        "height": pa.array([height], pa.int32()),
        "width": pa.array([width], pa.int32()),
        **{name: _one_list(pa, values) for name, values in (("depth_m", result.depth_m), ("sigma_m", result.sigma_m))},
        **{name: _one_list(pa, values) for name, values in vars(result.anchors).items()},
    }
    table = pa.table(columns)
    # Dictionaries gain nothing on floats that hardly repeat.
    write_whole(path, lambda file: parquet.write_table(table, file, compression="zstd", use_dictionary=False))


def _one_list(pa: Any, values: NDArray[Any]) -> Any:
    flat = pa.array(values.ravel())
    return pa.ListArray.from_arrays([0, len(flat)], flat)
