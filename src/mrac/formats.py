"""The file formats that are read and written, by what they hold: for `mrac list`, which imports no reader.

What a format is, is the first line of its module's docstring, as for the stages (`registry`).
"""

from pathlib import Path
from typing import Final, NamedTuple

from mrac.registry import first_docstring_line


class Format(NamedTuple):
    """One format.

    Attributes:
        name: its endings, or the name of whoever writes it.
        module: of the package, that reads or writes it.
    """

    name: str
    module: str


FORMATS: Final = {
    "anchors": (
        Format(".csv .txt .tsv", "anchors/csv"),
        Format(".npz", "anchors/npz"),
        Format(".png (sparse depth)", "anchors/png"),
        Format("depth map", "anchors/depth_map"),
        Format("point cloud", "anchors/point_cloud"),
        Format("zones", "anchors/zones"),
        Format("laser scan", "anchors/laser_scan"),
        Format("colmap", "anchors/colmap"),
    ),
    "cameras": (
        Format("kitti", "camera/kitti"),
        Format("ros", "camera/ros"),
        Format("colmap", "camera/colmap"),
        Format("nuscenes", "camera/nuscenes"),
        Format("arkit", "camera/arkit"),
        Format("nerf", "camera/nerf"),
        Format("plain", "camera/plain"),
    ),
    "clouds": (
        Format(".ply", "clouds/ply"),
        Format(".pcd", "clouds/pcd"),
        Format(".las .laz", "clouds/las"),
        Format(".npy", "clouds/npy"),
        Format(".bin", "clouds/bin"),
        Format(".csv .xyz .txt .asc", "clouds/text"),
    ),
    "results": (
        Format("folder", "result/folder"),
        Format(".npz", "result/npz"),
        Format(".png", "result/depth_png"),
        Format(".exr", "result/exr"),
        Format(".tif .tiff", "result/tiff"),
        Format(".ply", "result/points"),
        Format(".bin", "result/colmap_map"),
    ),
}
_WITHOUT_MODULE: Final = {"result/npz": "Arrays depth_m and sigma_m (H, W) float32 and the verdicts (K,), compressed."}


def rows(kind: str) -> list[tuple[str, str]]:
    """(name, what it is) of every format of `kind`, a key of `FORMATS`."""
    root = Path(__file__).parent
    return [
        (name, _WITHOUT_MODULE.get(module) or first_docstring_line(root / f"{module}.py"))
        for name, module in FORMATS[kind]
    ]
