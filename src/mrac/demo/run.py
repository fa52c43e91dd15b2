"""Runs the demonstration: a table of errors on the screen, the same numbers and a picture in a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from mrac.demo.panel import panel
from mrac.demo.scene import DemoScene, motorcycle
from mrac.io.files import write_json, write_whole
from mrac.io.result import versions
from mrac.metrics import DepthMetrics, depth_metrics
from mrac.pipeline import Calibrator
from mrac.types import MetricDepth


@dataclass(frozen=True, eq=False)
class Row:
    """One method's answer and how good it is; `caught` and `lost` count wrong anchors found, right ones rejected."""

    label: str
    result: MetricDepth
    metrics: DepthMetrics
    caught: int
    lost: int


# Label and what the calibrator is given: with readings some of which are wrong, then with the same readings all right.
_ROWS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("no gate (cfa_ols)", {"method": "cfa_ols"}),
    ("paper's gate", {"method": "cfa_ols", "gate": "theil_sen_mad"}),
    ("default", {"method": "default"}),
    ("default, no gate", {"method": "default", "gate": "none"}),
    ("default, no network", {"method": "default", "foundation": "none"}),
)
_CLEAN_ROWS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("all right: kriging", {"method": "default", "gate": "none"}),
    ("all right: kriging, no network", {"method": "default", "gate": "none", "foundation": "none"}),
)


def run_demo(folder: Path, console: Console) -> None:
    """Writes `panel.png` and `numbers.json` to `folder` and prints the table.

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
    console.print(f"Written: {folder / 'panel.png'} (the picture), {folder / 'numbers.json'} (all numbers)")


def _run(scene: DemoScene, label: str, options: dict[str, str]) -> Row:
    result = Calibrator(**options)(scene.image, scene.anchors)
    rejected = ~result.anchors.keep
    valid = np.isfinite(scene.truth_m)
    return Row(
        label=label,
        result=result,
        metrics=depth_metrics(result.depth_m, scene.truth_m, valid),
        caught=int((rejected & scene.wrong).sum()),
        lost=int((rejected & ~scene.wrong).sum()),
    )


def _table(scene: DemoScene, rows: list[Row]) -> Table:
    wrong = int(scene.wrong.sum())
    table = Table(
        title=f"Motorcycle: {len(scene.anchors)} readings, {wrong} of them wrong (multipath)",
        caption=f"caught: of the {wrong} wrong readings; lost: right readings that were rejected",
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


def _numbers(scene: DemoScene, rows: list[Row]) -> dict[str, Any]:
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
