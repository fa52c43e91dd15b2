"""Point clouds as bare float32 rows: KITTI's .bin (x, y, z, reflectance), nuScenes' .pcd.bin (and a ring number)."""

from pathlib import Path
from typing import Final

import numpy as np

from mrac.clouds.cloud import PointCloud
from mrac.errors import ContractError

_FARTHEST_M: Final = 1e5  # farther than any scanner sees; bytes of another format read as far larger numbers


def read(path: Path) -> PointCloud:
    """Reads the points; the file states nothing of itself, so that sizes and values are checked.

    Raises:
        ContractError: its size is not a number of rows, or its values are no coordinates.
    """
    columns = 5 if path.name.lower().endswith(".pcd.bin") else 4
    size = path.stat().st_size
    if size % (4 * columns):
        raise ContractError(
            f"clouds/bin: {path} has {size} bytes; rows of {columns} float32 (x, y, z, reflectance) are needed, "
            f"{4 * columns} bytes each"
        )
    table = np.fromfile(path, "<f4").reshape(-1, columns)
    if not (np.abs(table[:, :3]) <= _FARTHEST_M).all():
        raise ContractError(
            f"clouds/bin: {path} holds numbers that are no coordinates in metres; KITTI's format is needed"
        )
    return PointCloud(table[:, :3], intensity=table[:, 3])
