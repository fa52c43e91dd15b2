"""What a cell costs: over its images, and over the methods that share them."""

from typing import TYPE_CHECKING, Final

import numpy as np

from mrac.bench.report.context import Context
from mrac.bench.report.figures.look import GREY, INK, Figure, new_canvas, style
from mrac.bench.report.labels import family_label, method_label, set_label
from mrac.bench.report.results import CellKey
from mrac.conventions import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_SHARED: Final = "shared_ms"
"""Time of what an image's rows have in common: decoding, relative depth, anchors. Older runs have no such column."""


def figures(context: Context) -> list[Figure]:
    """One, of the set with the most images."""
    cells = _cells(context)
    if not cells:
        return []
    shared = _SHARED in context.results.columns
    about = f"{set_label(cells[0].set)}, {family_label(cells[0].family)}, K = 50. Left: the sum over the images so far."
    about += (
        " Right: one image under one condition, methods added one by one; dashed: if each decoded and predicted for "
        "itself."
        if shared
        else " The run did not record what methods share, so the cost over methods cannot be shown."
    )
    return [Figure("cost", "Cost per cell", about, lambda: _draw(context, cells, shared))]


def _cells(context: Context) -> list[CellKey]:
    """All methods under one condition of the largest set."""
    if "time_ms" not in context.results.columns:
        return []
    by_condition: dict[CellKey, list[CellKey]] = {}
    for cell in context.results.cells:
        if (cell.num_anchors, cell.source) == (50, "truth"):
            by_condition.setdefault(cell.with_method(""), []).append(cell)
    if not by_condition:
        return []

    def size(where: CellKey) -> tuple[int, int, bool, CellKey]:
        own = by_condition[where]
        images = len(context.results.column("image", own[0], context.results.seeds(own[0])[0]))
        return len(own), images, where.family == "near" and where.fraction == 0.25, where

    best = max(by_condition, key=size)
    order = context.names("method")
    return sorted(by_condition[best], key=lambda cell: order.index(cell.method))


def _times(context: Context, cell: CellKey, column: str = "time_ms") -> FloatArray:
    return np.asarray(np.nan_to_num(context.results.column(column, cell, context.results.seeds(cell)[0])))


def _draw(context: Context, cells: list[CellKey], shared: bool) -> "Canvas":
    canvas = new_canvas(7.6 if shared else 4.6, 3.2)
    grid = canvas.subplots(1, 2 if shared else 1, squeeze=False)
    _over_images(context, cells, grid[0][0])
    if shared:
        _over_methods(context, cells, grid[0][1])
    return canvas


def _over_images(context: Context, cells: list[CellKey], axes: "Axes") -> None:
    ends = []
    for i, cell in enumerate(cells):
        seconds = np.cumsum(_times(context, cell)) / 1e3
        look = style(cell.method, i)
        axes.plot(np.arange(1, seconds.size + 1), seconds, color=look["color"], linestyle=look["linestyle"])
        ends.append((float(seconds[-1]), method_label(cell.method), look["color"], seconds.size))
    axes.set(xlabel="images of the cell", ylabel="seconds of one core", xlim=(0, None), ylim=(0, None))
    _label_ends(axes, ends)


def _label_ends(axes: "Axes", ends: list[tuple[float, str, str, int]]) -> None:
    """Names at the ends of lines, pushed apart so that each can be read."""
    ends = sorted(ends)
    top = max(y for y, *_ in ends) * 1.05
    gap = top * 0.065
    at = np.array([y for y, *_ in ends])
    for _ in range(100):
        overlap = np.maximum(gap - np.diff(at), 0.0) / 2.0
        at[:-1] -= overlap
        at[1:] += overlap
    for (y, label, color, x), place in zip(ends, at + max(0.0, -at[0]), strict=True):
        axes.annotate(label, xy=(x, y), xytext=(x * 1.03, place), color=color, va="center", annotation_clip=False)
    axes.set_ylim(0, max(top, at[-1] + gap))


def _over_methods(context: Context, cells: list[CellKey], axes: "Axes") -> None:
    own = [float(np.mean(_times(context, cell))) for cell in cells]
    once = float(np.mean(_times(context, cells[0], _SHARED)))
    count = np.arange(1, len(cells) + 1)
    together = once + np.cumsum(own)
    axes.plot(count, count * once + np.cumsum(own), color=GREY, linestyle="--", marker="o", fillstyle="none")
    axes.plot(count, together, color=INK, marker="o")
    axes.axhspan(0.0, once, color=GREY, alpha=0.15, linewidth=0)
    axes.text(1, once / 2, "decoding, relative depth, anchors: once", fontsize=8, va="center")
    axes.set(xlabel="methods", ylabel="ms per image and condition", ylim=(0, None), xticks=count)
