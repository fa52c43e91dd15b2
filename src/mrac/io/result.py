"""Writes one calibration to a folder: depth.npz, depth.png, preview.png and, last, report.json."""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.io.files import write_arrays, write_depth_png, write_json, write_whole
from mrac.io.picture import preview
from mrac.types import Anchors, MetricDepth
from mrac.version import __version__


def versions() -> dict[str, str]:
    """What this process runs on: the package, its numeric dependencies, Python and the machine's kind."""
    names = ("numpy", "scipy", "numba", "pillow", "onnxruntime")
    return {
        "mrac": __version__,
        **{name: version(name) for name in names},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


RESULT_FILES: Final = ("depth.npz", "depth.png", "preview.png", "report.json")


def write_result(folder: Path, result: MetricDepth, anchors: Anchors, inputs: dict[str, Any]) -> None:
    """Writes the four files; `report.json` comes last, so a folder that has it is complete.

    Args:
        folder: made if missing; files of the same names are replaced, each as a whole.
        result: what to write.
        anchors: as they came in; their positions and depths are repeated beside the verdicts.
        inputs: what the report should say of the inputs (paths, options).
    """
    report_path = folder / "report.json"
    report_path.unlink(missing_ok=True)  # an older one would vouch for files that are about to change
    write_arrays(folder / "depth.npz", depth_m=result.depth_m, sigma_m=result.sigma_m)
    scale = write_depth_png(folder / "depth.png", result.depth_m)
    picture = preview(result.depth_m, anchors.uv_px, result.anchors.keep, result.status)
    write_whole(folder / "preview.png", lambda file: picture.save(file, format="PNG"))
    report = result.to_json()
    for entry, (u, v), z in zip(report["anchors"], anchors.uv_px, anchors.z_m, strict=True):
        entry.update(u=_plain(u), v=_plain(v), z_m=_plain(z))
    report["files"] = {
        "depth.npz": "depth_m and sigma_m, (H, W) float32, metres",
        "depth.png": f"16 bit, depth_m = value / {scale:g}",
        "preview.png": "near is bright; rings are kept anchors, crosses rejected ones",
    }
    report["inputs"] = inputs
    report["versions"] = versions()
    write_json(report_path, report)


def _plain(value: float) -> float | str:
    """JSON has no NaN and no infinity: those are written as text, so that the report still says what arrived."""
    return round(float(value), 6) if np.isfinite(value) else str(float(value))
