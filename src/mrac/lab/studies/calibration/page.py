"""Rows of `mrac.lab.studies.calibration` as figures of a file, a page and drawings."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.bootstrap import mean_intervals
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import family_label, set_label
from mrac.lab.studies.calibration.measures import LEVELS, NUM_BINS, REMOVED, Reliability, reliability
from mrac.lab.studies.claim import FAMILIES

KINDS: Final = (CLEAN, *FAMILIES)
WITHIN: Final = 0.85, 0.95
# Calibrated probabilities are asked for without a figure; this one is ours.
_MOST_ERROR: Final = 0.05
_OURS: Final = "relative deviation"
_HEURISTICS: Final = ("distance to kept", "distance to any")
_ALL: Final = "all"
Row = Mapping[str, Any]


def of(rows: Sequence[Row], set_name: str = "", family: str = "") -> list[Row]:
    """Rows with an answer, of a set or of all, of a family or of all."""
    return [
        row for row in rows
        if "failure" not in row and set_name in ("", row["set"]) and family in ("", row["family"])
    ]  # fmt: skip


def summary(rows: Sequence[Row], sets: Sequence[str]) -> dict[str, Any]:
    """Everything that was measured, as plain values, and the verdicts on it."""
    result: dict[str, Any] = {
        "images": {s: len({row["image"] for row in of(rows, s)}) for s in sets},
        "failures": [f"{r['set']} {r['image']} {r['family']}: {r['failure']}" for r in rows if "failure" in r],
        "levels": list(LEVELS),
        "coverage": {s: {f: _coverage(of(rows, s, f)) for f in KINDS} for s in sets},
        "reliability": {
            _ALL: judged(of(rows)),
            **{family: judged(of(rows, family=family)) for family in KINDS},
            **{s: judged(of(rows, s)) for s in sets},
        },
        # A mixed pixel between near neighbours is hardly wrong: beside it, what is wrong enough to matter.
        "reliability_over_10_percent": {
            _ALL: judged(of(rows), "is_far"),
            **{family: judged(of(rows, family=family), "is_far") for family in KINDS},
        },
        "sparsification": {
            s: {f: _areas(of(rows, s, "" if f == _ALL else f), s) for f in (*KINDS, _ALL)} for s in sets
        },
    }
    return result | {"verdicts": verdicts(result)}


def _coverage(rows: Sequence[Row]) -> list[float] | None:
    """At each level, the mean over images."""
    return np.mean([row["coverage"] for row in rows], axis=0).tolist() if rows else None


def _reliability(rows: Sequence[Row], label: str = "is_wrong") -> Reliability | None:
    if not rows:
        return None
    stated, true = (np.concatenate([row[name] for row in rows]) for name in ("wrong", label))
    return reliability(stated, true) if stated.size else None


def judged(rows: Sequence[Row], label: str = "is_wrong") -> dict[str, Any] | None:
    """Reliability of the verdicts on all anchors of some rows, as plain values; `label` says which are wrong."""
    found = _reliability(rows, label)
    if found is None:
        return None
    bins = np.column_stack([found.count, found.stated, found.observed, found.low, found.high])
    return {
        "anchors": int(found.count.sum()),
        "expected_calibration_error": found.error,
        "brier": found.brier,
        "brier_constant": found.brier_constant,
        "bins": [dict(zip(("count", "stated", "observed", "low", "high"), map(_plain, b), strict=True)) for b in bins],
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _areas(rows: Sequence[Row], set_name: str) -> dict[str, Any] | None:
    """AUSE by each doubt, mean over images, and ours less the better heuristic's with its interval."""
    if not rows:
        return None
    by_image: dict[str, list[Row]] = {}
    for row in rows:
        by_image.setdefault(row["image"], []).append(row)
    names = list(rows[0]["ause"])
    values = {n: np.array([np.mean([row["ause"][n] for row in own]) for own in by_image.values()]) for n in names}
    means = {name: float(own.mean()) for name, own in values.items()}
    rival = min(_HEURISTICS, key=lambda name: means[name])
    apart = (values[_OURS] - values[rival])[None]
    low, high = mean_intervals(apart, set_name)
    return {"ause": means, "rival": rival, "less": [float(apart.mean()), float(low[0]), float(high[0])]}


def verdicts(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was asked, what is there, and whether it holds."""
    place = LEVELS.index(0.9)
    cells = {(s, f): c[place] for s, own in result["coverage"].items() for f, c in own.items() if c is not None}
    outside = [f"{set_label(s)} {family_label(f)} {100 * c:.1f} %" for (s, f), c in cells.items()
               if not WITHIN[0] <= c <= WITHIN[1]]  # fmt: skip
    whole = result["reliability"][_ALL]
    areas = {(s, f): a for s, own in result["sparsification"].items() for f, a in own.items() if a is not None}
    behind = [f"{set_label(s)} {family_label(f)}" for (s, f), a in areas.items() if not a["less"][0] < 0.0]
    error = whole["expected_calibration_error"] if whole else math.nan
    brier = (whole["brier"], whole["brier_constant"]) if whole else (math.nan, math.nan)
    return [
        {
            "asks": "90 % intervals cover 85 to 95 % of pixels on each set, clean and with each family at 25 %",
            "here": _counted(len(cells), outside),
            "holds": bool(cells) and not outside,
        },
        {
            "asks": f"expected calibration error of the verdicts at most {_MOST_ERROR} (our figure: none was named)",
            "here": f"{error:.3f}; Brier {brier[0]:.3f}, of one who knows the share alone {brier[1]:.3f}",
            "holds": bool(error <= _MOST_ERROR),
        },
        {
            "asks": "sparsification by the stated deviation is better than by distance to the nearest anchor",
            "here": _counted(len(areas), behind),
            "holds": bool(areas) and not behind,
        },
    ]  # fmt: skip


def _counted(whole: int, lost: Sequence[str]) -> str:
    return f"{whole - len(lost)} of {whole} cells" + (f"; not in {', '.join(lost)}" if lost else "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def page(result: Mapping[str, Any], method: str, limit: int) -> str:
    """Markdown."""
    counts = ", ".join(f"{set_label(s)} {n}" for s, n in result["images"].items())
    spread = f"at most {limit} of each set, spread evenly" if limit else "all"
    words = [
        f"- **{'holds' if v['holds'] else 'does not hold'}**: {v['asks']}. {v['here']}.\n" for v in result["verdicts"]
    ]
    parts = [
        f"# Calibration of `{method}`\n\nWritten by `python -m mrac.lab.studies.calibration`. K = 50, seed 0, clean "
        f"and each family at 25 %, the benchmark's draws. Images ({spread}): {counts}. Without an answer: "
        f"{len(result['failures'])}.\n",
        "".join(words),
        "## Coverage\n\nPercent of pixels inside the central interval of 50 / 68 / 90 %, mean over images. "
        f"{_ranges(result['coverage'])}\n",
        _coverage_table(result["coverage"]),
        "## Verdicts on anchors\n\nThe stated probability of being wrong, in ten bins: percent of the anchors in it "
        "that are wrong, and how many there are.\n",
        _reliability_table(result["reliability"]),
        "The same where wrong is more than 10 % off, which many a mixed pixel is not:\n",
        _reliability_table(result["reliability_over_10_percent"]),
        "![Reliability](reliability.png)\n\n## Sparsification\n\nArea between the curve of the remaining AbsRel and "
        "that of one who knows the error (AUSE, of the whole AbsRel; 0 is perfect), mean over images; then ours, the "
        "deviation over the depth, less the better of the two distances, with a 95 % interval.\n",
        _sparsification_table(result["sparsification"]),
        "![Sparsification](sparsification.png)\n",
        *(f"- {failure}" for failure in result["failures"]),
    ]
    return "\n".join(parts)


def _ranges(coverage: Mapping[str, Any]) -> str:
    """How far each level strays over all cells."""
    cells = np.array([own for by_family in coverage.values() for own in by_family.values() if own is not None])
    if not cells.size:
        return "There is none."
    ends = zip(LEVELS, 100.0 * cells.min(axis=0), 100.0 * cells.max(axis=0), strict=True)
    return "From least to most: " + ", ".join(f"{100 * level:g} %: {a:.0f} to {b:.0f}" for level, a, b in ends) + "."


def _coverage_table(coverage: Mapping[str, Any]) -> str:
    rows = [[set_label(s), *(_shares(own[f]) for f in KINDS)] for s, own in coverage.items()]
    return _table(["set", *map(family_label, KINDS)], rows)


def _reliability_table(found: Mapping[str, Any]) -> str:
    edges = (f"{b / NUM_BINS:g}–{(b + 1) / NUM_BINS:g}" for b in range(NUM_BINS))
    rows = [[_label(name), *_line(own)] for name, own in found.items() if own is not None]
    return _table(["anchors of", "how many", "ECE", "Brier", "Brier of the share", *edges], rows)


def _sparsification_table(found: Mapping[str, Any]) -> str:
    names = [_OURS, "deviation", *_HEURISTICS]
    rows = [
        [f"{set_label(s)}, {_label(f)}", *(f"{own['ause'][n]:.3f}" for n in names), _less(own["less"])]
        for s, by_family in found.items() for f, own in by_family.items() if own is not None
    ]  # fmt: skip
    return _table(["images", *names, "ours less distance"], rows)


def _label(name: str) -> str:
    return name if name == _ALL else family_label(name) if name in KINDS else set_label(name)


def _shares(values: Sequence[float] | None) -> str:
    return "–" if values is None else " / ".join(f"{100 * v:.0f}" for v in values)


def _line(own: Mapping[str, Any]) -> list[str]:
    bins = ["–" if not b["count"] else f"{100 * b['observed']:.0f} ({b['count']:.0f})" for b in own["bins"]]
    figures = (f"{own[name]:.3f}" for name in ("expected_calibration_error", "brier", "brier_constant"))
    return [str(own["anchors"]), *figures, *bins]


def _less(values: Sequence[float]) -> str:
    value, low, high = (f"{v:.3f}".replace("-", "−") for v in values)
    return f"{value} [{low}, {high}]"


def figures(rows: Sequence[Row], sets: Sequence[str]) -> list[Figure]:
    """Reliability, and sparsification."""
    unit = Axis(label="stated probability of being wrong", ticks=(0.0, 0.25, 0.5, 0.75, 1.0))
    panels = []
    for family in ("", *KINDS):
        found = _reliability(of(rows, family=family))
        if found is None:
            continue
        some = found.count > 0
        x, y, low, high = (v[some].tolist() for v in (found.stated, found.observed, found.low, found.high))
        diagonal = Series(name="", label="calibrated", x=[0.0, 1.0], y=[0.0, 1.0])
        own = Series(name="default", label="observed, 95 % interval", x=x, y=y, low=low, high=high)
        panels.append(Panel(title=_label(family or _ALL), series=[diagonal, own]))
    curves = []
    for s in sets:
        own_rows = of(rows, s)
        if not own_rows:
            continue
        series = []
        for name in ("ideal", _OURS, *_HEURISTICS):
            mean = np.mean([row["curves"][name] for row in own_rows], axis=0)
            series.append(Series(name=name, label=name, x=REMOVED.tolist(), y=mean.tolist()))
        curves.append(Panel(title=set_label(s), series=series, line_at=1.0))
    share, left = Axis(label="share of pixels removed"), Axis(label="AbsRel left, of the whole", from_zero=True)
    y_axis = Axis(label="share that is wrong", ticks=(0.0, 0.25, 0.5, 0.75, 1.0))
    drawn = []
    if panels:
        drawn.append(Figure("reliability", "Reliability", "", lambda: draw_panels(panels, unit, y_axis, num_columns=3)))
    if curves:
        drawn.append(Figure("sparsification", "Sparsification", "", lambda: draw_panels(curves, share, left)))
    return drawn
