"""Small runs whose every number is known, as `read_run` would give them."""

from collections.abc import Iterable, Sequence
from typing import Any

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import METRICS
from mrac.lab.bench.report.paper import Paper
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.store import COLUMNS

Row = dict[str, Any]


def cell(method: str, values: Sequence[float | None], *, seed: int = 0, **where: Any) -> list[Row]:
    """A row per value of AbsRel, None for a failed image; `where` has columns of the condition or of the results."""
    rows = []
    for i, value in enumerate(values):
        row: Row = dict.fromkeys(COLUMNS)
        row |= {"set": "nyu", "family": "none", "fraction": 0.0, "num_anchors": 50, "placement": "random"}
        row |= {"source": "truth", "seed": seed, "method": method, "image": f"{i:04d}", "foundation": "embedded"}
        if value is None:
            row |= {"status": "failed", "failure": "ValueError: nothing to see"}
        else:
            row |= {name: 1.0 - value if name.startswith("delta") else value for name in METRICS}
            row |= {"status": "ok", "time_ms": 10.0, "coverage_68": 0.7, "coverage_90": 0.9}
        rows.append(row | where)
    return rows


def columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(COLUMNS)
    return {name: [row.get(name) for row in rows] for name in names}


def context(rows: Iterable[Row], *, paper: bool = True, missing: Iterable[CellKey] = (), **more: Any) -> Context:
    """Of rows that are there and of cells that should be, all with seed 0."""
    results = Results(columns(rows))
    plan = {key: frozenset(results.seeds(key)) for key in results.cells} | dict.fromkeys(missing, frozenset({0}))
    return Context(results=results, plan=plan, paper=Paper() if paper else None, **more)


def grid(
    levels: dict[str, float],
    sets: Sequence[str] = ("nyu", "kitti15"),
    families: Sequence[str] = ("uniform", "near", "dropout", "mixed_pixel"),
    fractions: Sequence[float] = (0.1, 0.25, 0.4),
    num_images: int = 4,
    **more: Any,
) -> list[Row]:
    """The paper's grid for methods whose AbsRel is a level, more where more is wrong."""
    rows = []
    for set_name in sets:
        for method, level in levels.items():
            clean = [level + 0.001 * i for i in range(num_images)]
            rows += cell(method, clean, set=set_name, **more)
            for family in families:
                for p in fractions:
                    values = [value * (1.0 + p) for value in clean]
                    rows += cell(method, values, set=set_name, family=family, fraction=p, **more)
    return rows
