"""Point clouds and the files that they come in. The file extension names the reader."""

import importlib
from pathlib import Path
from typing import Final

from mrac.clouds.cloud import PointCloud
from mrac.clouds.ply import write_ply
from mrac.errors import ContractError
from mrac.io.input_file import as_path, check_file

__all__ = ["PointCloud", "read_cloud", "write_ply"]

# The module that reads each extension.
READERS: Final = {
    ".ply": "ply",
    ".pcd": "pcd",
    ".las": "las",
    ".laz": "las",
    ".npy": "npy",
    ".bin": "bin",
    ".csv": "text",
    ".xyz": "text",
    ".txt": "text",
    ".asc": "text",
}


def read_cloud(path: Path | str) -> PointCloud:
    """Reads a point cloud of any known format; coordinates are taken as metres.

    Args:
        path: .ply, .pcd, .las, .laz, .npy (N, 3 or more columns), .bin (KITTI; .pcd.bin: nuScenes), or a text table
            .csv, .xyz, .txt, .asc.

    Raises:
        ContractError: the file is missing, of an unknown format or broken.
        MissingExtra: .las and .laz need the extra `sensors`.
    """
    path = as_path(path, 'read_cloud("scan.ply")')
    module = READERS.get(path.suffix.lower())
    if module is None:
        raise ContractError(f"clouds: {path} ends in {path.suffix!r}; one of {', '.join(READERS)} is needed")
    check_file(path, "clouds")
    try:
        cloud: PointCloud = importlib.import_module(f"mrac.clouds.{module}").read(path)
    except (OSError, UnicodeError) as error:
        raise ContractError(f"clouds: {path} cannot be read: {error}") from None
    return cloud
