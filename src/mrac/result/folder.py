"""Writes one calibration to a folder: depth.npz, depth.png, preview.png, nearer.npz if requested, report.json."""

import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.io.files import PNG_LEVEL, write_arrays, write_depth_png, write_json, write_whole
from mrac.io.folders import locked_folder, staging
from mrac.result.metric_depth import MetricDepth
from mrac.result.preview import preview
from mrac.runtime.providers import installed_packages
from mrac.version import __version__


def versions() -> dict[str, str]:
    """Versions of the package, its numeric dependencies and Python, and the kind of machine."""
    names = ("numpy", "scipy", "numba", "pillow")
    return {
        "mrac": __version__,
        **{name: version(name) for name in names},
        **installed_packages(),  # of onnxruntime, which has several names
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


_WAIT_S: Final = 10.0  # for another process to move its files, which takes milliseconds
RESULT_FILES: Final = ("depth.npz", "depth.png", "preview.png", "nearer.npz", "report.json")


def write_result(
    folder: Path,
    result: MetricDepth,
    anchors: Anchors | None,
    inputs: dict[str, Any],
    nearer_than_m: Sequence[float] = (),
    image: ImageArray | None = None,
) -> None:
    """Writes the files to a folder inside, then moves them to their places, `report.json` last.

    So a folder that has a report is complete and of one run, whatever else writes there; and where the disk is full,
    the earlier result stays.

    Args:
        folder: created if missing; files of the same names are replaced.
        result: what to write.
        anchors: the input; their positions and depths are repeated beside the verdicts, and the preview shows them.
        inputs: the report's entry on the inputs (paths, options).
        nearer_than_m: N distances; the probability that depth is less than each goes to nearer.npz, which is removed
            if there are none: it would be of another result.
        image: (H, W, 3) uint8, the photo that the preview shows.

    Raises:
        ContractError: a distance is not a finite number > 0, or image or anchors are of another result; nothing has
            been written then.
    """
    nearer = np.empty((len(nearer_than_m), *result.depth_m.shape), np.float32)
    for chances, d_m in zip(nearer, nearer_than_m, strict=True):
        chances[:] = result.probability_nearer(d_m)
    picture = preview(result, anchors, image)
    with staging(folder) as part:
        if len(nearer):
            write_arrays(part / "nearer.npz", d_m=np.array(nearer_than_m), probability=nearer)
        write_arrays(part / "depth.npz", depth_m=result.depth_m, sigma_m=result.sigma_m)
        scale = write_depth_png(part / "depth.png", result.depth_m)
        write_whole(part / "preview.png", lambda file: picture.save(file, format="PNG", compress_level=PNG_LEVEL))
        write_json(part / "report.json", _report(result, anchors, inputs, scale, bool(len(nearer))))
        _move(part, folder)


def _move(part: Path, folder: Path) -> None:
    """Puts the files of a complete result in the place of an earlier one's."""
    with locked_folder(folder, _WAIT_S):
        for name in RESULT_FILES:
            if (folder / name).is_dir():
                raise ContractError(f"{folder / name}: is a folder; a file is to be written there")
        (folder / "report.json").unlink(missing_ok=True)  # it would mark as complete files that are about to change
        for name in RESULT_FILES:  # the report last
            if (part / name).exists():
                (part / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)  # of another result


def _report(
    result: MetricDepth, anchors: Anchors | None, inputs: dict[str, Any], scale: float, has_nearer: bool
) -> dict[str, Any]:
    report = report_of(result)
    if anchors is not None:
        for entry, (u, v), z in zip(report["anchors"], anchors.uv_px, anchors.z_m, strict=True):
            entry.update(u=_plain(u), v=_plain(v), z_m=_plain(z))
    report["files"] = {
        "depth.npz": "depth_m and sigma_m, (H, W) float32, metres",
        "depth.png": f"16 bit, depth_m = value / {scale:g}",
        "preview.png": "photo, depth and standard deviation; rings are kept anchors, crosses rejected ones",
    }
    if has_nearer:
        report["files"]["nearer.npz"] = "probability (N, H, W) float32 that the depth is less than d_m (N,), metres"
    report["inputs"] = inputs
    report["versions"] = versions()
    return report


def report_of(result: MetricDepth) -> dict[str, Any]:
    """Everything of a result but the maps, as plain values for `report.json`."""
    fit, verdicts = result.fit, vars(result.anchors)
    columns = {name: (v.round(4) if v.dtype.kind == "f" else v).tolist() for name, v in verdicts.items()}
    return {
        "status": result.status,
        "warnings": [finding._asdict() for finding in result.warnings],
        "stages": result.stages,
        "options": result.options,
        "space": result.space,
        "fit": {
            "scale": fit.scale,
            "shift": fit.shift,
            "covariance": fit.covariance.tolist(),
            "sigma": fit.sigma,
            "num_used": int(fit.used.sum()),
            "status": fit.status,
            "relations": {} if fit.curve is None else fit.curve.probabilities,
        },
        "anchors": [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)],
        "timings_ms": {name: round(ms, 3) for name, ms in result.timings_ms.items()},
        "cache": result.cache,
        "device": asdict(result.device),
    }


def _plain(value: float) -> float | str:
    """The number, rounded; NaN and infinities, which JSON lacks, as text."""
    return round(float(value), 6) if np.isfinite(value) else str(float(value))
