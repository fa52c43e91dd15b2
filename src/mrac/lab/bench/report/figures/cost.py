"""What a cell costs over its images."""

from typing import TYPE_CHECKING

import numpy as np

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.style import Figure, new_canvas, style
from mrac.lab.bench.report.labels import family_label, is_swept, method_label, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.tables.cost import hardware, processors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def figures(context: Context) -> list[Figure]:
    """One, of the condition that most methods were run under."""
    cells = _cells(context)
    if not cells:
        return []
    about = (
        f"{set_label(cells[0].set)}, {family_label(cells[0].family)}, K = 50: gate, fit and head of a method, summed "
        "over the images so far. What methods share (decoding, relative depth, anchors) is not in it; "
        "`python -m mrac.lab.studies.bench_scaling` measures that."
    )
    return [Figure("cost", "Cost of a cell over its images", about, lambda: _draw(context, cells))]


def _cells(context: Context) -> list[CellKey]:
    """All methods under one condition on one machine: where most of them were run, then with the most images."""
    if "time_ms" not in context.results.columns:
        return []
    by_condition: dict[tuple[CellKey, str], list[CellKey]] = {}
    for cell in context.results.cells:
        grid = (cell.num_anchors, cell.source) == (50, "truth") and not is_swept(cell.method)
        on = hardware(context, cell, context.results.seeds(cell)[0])
        if grid and on in processors(context) and context.results.mean("time_ms", cell).value is not None:
            by_condition.setdefault((cell.with_method(""), on), []).append(cell)
    if not by_condition:
        return []

    def size(key: tuple[CellKey, str]) -> tuple[int, int, bool, CellKey, str]:
        own, where = by_condition[key], key[0]
        images = len(context.results.column("image", own[0], context.results.seeds(own[0])[0]))
        return len(own), images, where.family == "near" and where.fraction == 0.25, *key

    best = max(by_condition, key=size)
    order = context.names("method")
    return sorted(by_condition[best], key=lambda cell: order.index(cell.method))


def _draw(context: Context, cells: list[CellKey]) -> "Canvas":
    canvas = new_canvas(5.6, 3.4)
    axes = canvas.subplots()
    ends = []
    for i, cell in enumerate(cells):
        times_ms = context.results.column("time_ms", cell, context.results.seeds(cell)[0])
        seconds = np.cumsum(np.nan_to_num(times_ms)) / 1e3
        look = style(cell.method, i)
        axes.plot(np.arange(1, seconds.size + 1), seconds, color=look["color"], linestyle=look["linestyle"])
        ends.append((float(seconds[-1]), method_label(cell.method), look["color"], seconds.size))
    axes.set(xlabel="images of the cell", ylabel="seconds of one core", xlim=(0, None), ylim=(0, None))
    _label_ends(axes, ends)
    return canvas


def _label_ends(axes: "Axes", ends: list[tuple[float, str, str, int]]) -> None:
    """Names at the ends of lines, pushed apart so that each can be read."""
    ends = sorted(ends)
    top, right = max(y for y, *_ in ends) * 1.05, max(x for *_, x in ends)
    gap = top * 0.065
    at = np.array([y for y, *_ in ends])
    for _ in range(100):
        overlap = np.maximum(gap - np.diff(at), 0.0) / 2.0
        at[:-1] -= overlap
        at[1:] += overlap
    for i in range(len(at)):  # none below the axis
        at[i] = max(at[i], 0.0 if i == 0 else at[i - 1] + gap)
    for (_, label, color, _), place in zip(ends, at, strict=True):
        axes.text(right * 1.03, place, label, color=color, va="center")
    axes.set_ylim(0, max(top, at[-1] + gap / 2))
