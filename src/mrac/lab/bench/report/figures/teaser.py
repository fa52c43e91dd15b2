"""The teaser (Fig. 1): one frame with what wrong readings do to it, and the numbers of the whole set.

It shows an image of a data set; see `figures/scenes.py` on what may be done with it.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mrac.io.picture import error_colours
from mrac.lab.bench.report.bootstrap import mean_intervals
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.photos import WIDE, WORST_ERROR, marks, photo_figure, show_error, show_photo
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import GREY, INK, Figure, new_canvas, style
from mrac.lab.bench.report.labels import method_label, set_label
from mrac.lab.bench.report.results import CellKey

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_BARS_IN = 3.4


def figures(context: Context, scenes: Scenes) -> list[Figure]:
    """One, of the set that `scenes` shows."""
    about = (
        "Left: the frame with the median gain, and relative errors where there is truth. Right: AbsRel over the set "
        "with 95 % intervals; hollow: the paper's."
    )
    draw = partial(_draw, context, scenes)
    return [photo_figure(scenes, "teaser", "One frame, and its set (Fig. 1)", about, draw)]


def _draw(context: Context, scenes: Scenes) -> "Canvas":
    seen = scenes.see(scenes.typical(1)[0])
    wrong = seen.drawn.wrong
    pictures: list[tuple[str, Any]] = [
        (f"{wrong.size} readings, {int(wrong.sum())} of them too near", partial(show_photo, seen=seen))
    ]
    for m in [m for m in scenes.methods if m != "vanilla"] or scenes.methods:
        pictures.append((f"{method_label(m)}: AbsRel {seen.abs_rel(m):.3f}", partial(show_error, seen=seen, method=m)))
    H, W = seen.sample.truth_m.shape
    columns, rows = 2, (len(pictures) + 1) // 2
    photo_w = 4.6 if W / H > WIDE else 3.0
    # The bar of errors takes some of the width, so pictures are a little smaller than photo_w.
    canvas = new_canvas(photo_w * columns + _BARS_IN, ((photo_w - 0.35) * H / W + 0.3) * rows + 0.5)
    left, right = canvas.subfigures(1, 2, width_ratios=[photo_w * columns, _BARS_IN], squeeze=False)[0]
    grid = left.subplots(rows, columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        axes.set_visible(place < len(pictures))
        if place < len(pictures):
            title, draw = pictures[place]
            draw(axes)
            axes.set_title(title)
    left.legend(handles=marks(), loc="outside lower center", ncols=3, fontsize=8)
    _error_bar(left, grid)
    _bars(context, scenes, right.subplots())
    return canvas


def _error_bar(figure: Any, grid: Any) -> None:
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    ramp = error_colours(np.linspace(0.0, WORST_ERROR, 256)[None], WORST_ERROR)[0] / 255.0
    scale = ScalarMappable(cmap=ListedColormap(ramp))
    scale.set_clim(0.0, 100.0 * WORST_ERROR)
    bar = figure.colorbar(scale, ax=list(grid.flat), location="right", shrink=0.6, aspect=30, pad=0.01)
    bar.set_label("relative error, %", fontsize=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)


def _bars(context: Context, scenes: Scenes, axes: Any) -> None:
    methods = scenes.methods
    cells = [CellKey(set=scenes.set_name, method=m, family="near", fraction=0.25) for m in methods]
    low, high = mean_intervals(context.results.matrix("abs_rel", cells, [0]), scenes.set_name, context.seed)
    for i, (m, cell) in enumerate(zip(methods, cells, strict=True)):
        mean = context.results.mean("abs_rel", cell, [0]).value
        if mean is None:
            continue
        axes.barh(i, mean, color=style(m)["color"], height=0.55, zorder=2)
        axes.plot([low[i], high[i]], [i, i], color=INK, linewidth=1.4, zorder=3)
        axes.text(high[i], i, f"  {mean:.3f}", va="center")
        printed = context.printed(cell)
        if printed:
            axes.plot(printed.value, i, "o", fillstyle="none", color=GREY, markersize=8, zorder=4)
    axes.set(yticks=range(len(methods)), yticklabels=[method_label(m) for m in methods], xlabel="AbsRel over the set")
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.22)
    axes.set_xlim(left=0.0)
    axes.set_title(set_label(scenes.set_name))
