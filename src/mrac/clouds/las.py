"""Point clouds in LAS and LAZ files, by laspy (extra `sensors`)."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.clouds.cloud import PointCloud, from_fields
from mrac.errors import ContractError, MissingExtra, first_line

_CHUNK: Final = 1 << 20  # points at a time, so that memory grows with what the file holds, not with what it states
_USED: Final = ("intensity", "red", "green", "blue")


def read(path: Path) -> PointCloud:
    """Reads the points, in the file's coordinate system (mostly a map's: the pose takes it to the camera).

    Raises:
        ContractError: not a LAS file, cut short, or broken.
        MissingExtra: laspy is not installed, or lazrs for a .laz.
    """
    try:
        import laspy  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("reading LAS and LAZ", "sensors") from None
    try:
        with laspy.open(path) as file:
            head = file.header
            num = int(head.point_count)
            needed = 0 if head.are_points_compressed else num * head.point_format.size
            left = path.stat().st_size - head.offset_to_point_data
            columns: dict[str, list[NDArray[Any]]] = {"x": [], "y": [], "z": []}
            columns |= {name: [] for name in _USED if name in head.point_format.dimension_names}
            if 0 <= needed <= left:
                for points in file.chunk_iterator(_CHUNK):
                    for name, parts in columns.items():
                        parts.append(np.asarray(points[name]))
    except Exception as error:
        # Without lazrs laspy has no "backend"; damaged files raise nearly anything, even plain RuntimeError.
        if "backend" in str(error).lower():
            raise MissingExtra("reading LAZ", "sensors") from None
        raise ContractError(f"clouds/las: {path} is no readable LAS or LAZ file ({first_line(error)})") from None
    fields = {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in columns.items()}
    if fields["x"].size != num:
        raise ContractError(f"clouds/las: {path} is cut short: {num} points are stated, {fields['x'].size} can be read")
    return from_fields(fields, path)
