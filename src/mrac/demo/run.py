"""Runs the demonstration: prints a table of errors, writes its inputs, the same numbers and a picture."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from mrac.anchors import csv
from mrac.demo.panel import panel
from mrac.examples import Example, motorcycle
from mrac.io.files import write_json, write_whole
from mrac.metrics import DepthMetrics, depth_metrics
from mrac.pipeline import Calibrator
from mrac.result import MetricDepth
from mrac.result.folder import versions


@dataclass(frozen=True, eq=False)
class Row:
    """One method's result and its errors.

    Attributes:
        label: the method, as the table shows it.
        result: its depth and verdicts.
        metrics: of the depth.
        caught: number of outliers it rejected.
        lost: number of inliers it rejected.
    """

    label: str
    result: MetricDepth
    metrics: DepthMetrics
    caught: int
    lost: int


# Label and the calibrator's options: first with outliers among the anchors, then with the same anchors all inliers.
_ROWS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("no gate (cfa_ols)", {"method": "cfa_ols"}),
    ("paper's gate", {"method": "cfa_ols", "gate": "theil_sen_mad"}),
    ("default", {"method": "default"}),
    ("default, no gate", {"method": "default", "gate": "none"}),
    ("default, no network", {"method": "default", "foundation": "none"}),
)
_CLEAN_ROWS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("no outliers: kriging", {"method": "default", "gate": "none"}),
    ("no outliers: kriging, no network", {"method": "default", "gate": "none", "foundation": "none"}),
)


def run_demo(folder: Path, console: Console) -> None:
    """Writes `image.png`, `anchors.csv`, `panel.png` and `numbers.json` to `folder` and prints the table.

    Raises:
        MissingExtra: scikit-image is not installed.
    """
    scene = motorcycle()
    rows = [_run(scene, label, options) for label, options in _ROWS]
    rows += [_run(motorcycle(wrong_fraction=0.0), label, options) for label, options in _CLEAN_ROWS]
    console.print(_table(scene, rows))
    picture = panel(scene, [(row.label, row.result, row.metrics.abs_rel) for row in rows[:3]])
    write_whole(folder / "panel.png", lambda file: picture.save(file, format="PNG"))
    write_json(folder / "numbers.json", _numbers(scene, rows))
    image_path, anchors_path = folder / "image.png", folder / "anchors.csv"
    write_whole(image_path, lambda file: Image.fromarray(scene.image).save(file, format="PNG"))
    csv.write(anchors_path, scene.anchors)
    console.print(f"Written: {folder / 'panel.png'} (the picture), {folder / 'numbers.json'} (all numbers)")
    console.print("Go on with:")
    words = ["mrac", "calibrate", str(image_path), "--anchors", str(anchors_path), "--out", "result"]
    console.print(shlex.join(words), soft_wrap=True, markup=False, highlight=False)


def _run(scene: Example, label: str, options: dict[str, str]) -> Row:
    result = Calibrator(**options)(scene.image, scene.anchors)
    rejected = ~result.anchors.keep
    valid = np.isfinite(scene.depth_m)
    return Row(
        label=label,
        result=result,
        metrics=depth_metrics(result.depth_m, scene.depth_m, valid),
        caught=int((rejected & scene.wrong).sum()),
        lost=int((rejected & ~scene.wrong).sum()),
    )


def _table(scene: Example, rows: list[Row]) -> Table:
    wrong = int(scene.wrong.sum())
    table = Table(
        title=f"Motorcycle: {len(scene.anchors)} readings, {wrong} of them wrong (multipath)",
        caption=f"caught: of the {wrong} outliers; lost: inliers that were rejected",
    )
    for column in ("method", "AbsRel", "δ1", "caught", "lost", "status"):
        table.add_column(column, justify="left" if column in ("method", "status") else "right")
    for number, row in enumerate(rows, start=1):
        m = row.metrics
        table.add_row(
            row.label,
            f"{m.abs_rel:.3f}",
            f"{m.delta1:.3f}",
            str(row.caught),
            str(row.lost),
            row.result.status,
            end_section=number == len(_ROWS),
        )
    return table


def _numbers(scene: Example, rows: list[Row]) -> dict[str, Any]:
    return {
        "scene": "Middlebury 2014 Motorcycle, 741×500, as shipped in scikit-image",
        "relative_depth": "the embedded network, which never saw this scene (log_depth)",
        "anchors": len(scene.anchors),
        "wrong": int(scene.wrong.sum()),
        "outliers": "near: z · U(0.2, 0.6)",
        "seed": 0,
        "rows": [
            {
                "label": row.label,
                **row.metrics.to_dict(),
                "caught": row.caught,
                "right_ones_lost": row.lost,
                "status": row.result.status,
                "stages": row.result.stages,
                "timings_ms": row.result.timings_ms,
            }
            for row in rows
        ],
        "versions": versions(),
    }
