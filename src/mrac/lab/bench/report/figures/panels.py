"""Small panels of lines with bands, one legend for all: the form of most figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mrac.lab.bench.report.figures.style import GREY, new_canvas, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_PANEL_IN: Final = (2.35, 2.05)
_HOLLOW: Final[Any] = {"marker": "o", "markersize": 7, "fillstyle": "none", "linestyle": "none", "clip_on": False}
_PAPERS: Final = "the paper's"
_ALONE_IN: Final = (5.2, 3.0)  # of a figure that has one panel


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line.

    Attributes:
        name: what decides its colour.
        label: in the legend.
        x: where, ascending.
        y: values; NaN is a gap.
        low: lower edge of its band, or nothing.
        high: upper edge.
        printed: points (x, y) of the paper, drawn hollow.
        joined: by a line; points of different kinds of things are not.
    """

    name: str
    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    printed: Sequence[tuple[float, float]] = ()
    joined: bool = True


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One set of axes.

    Attributes:
        title: above it.
        series: its lines.
        line_at: a horizontal reference, or None.
    """

    title: str
    series: Sequence[Series]
    line_at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Axis:
    """How one direction of all panels is drawn, over one range.

    Attributes:
        label: of it.
        log: whether in logarithmic steps.
        ticks: where, or nothing to leave it to the drawing.
        labels: at the ticks, or nothing for the numbers.
        from_zero: start at 0 (of y, where not logarithmic).
    """

    label: str
    log: bool = False
    ticks: Sequence[float] = ()
    labels: Sequence[str] = field(default=())
    from_zero: bool = False


def draw_panels(panels: Sequence[Panel], x: Axis, y: Axis, *, num_columns: int = 4) -> "Canvas":
    """Panels in rows of `num_columns`, a legend below them that hides nothing."""
    columns = min(num_columns, len(panels))
    num_rows = math.ceil(len(panels) / columns)
    names = dict.fromkeys((one.name, one.label) for panel in panels for one in panel.series)
    labels = [label for _, label in names] + [_PAPERS] * any(s.printed for p in panels for s in p.series)
    panel_w, panel_h = _ALONE_IN if len(panels) == 1 else _PANEL_IN
    width = panel_w * columns + 0.4
    # Some 0.08 in a letter and 0.65 in a mark with its gaps.
    legend_rows = math.ceil(sum(0.65 + 0.08 * len(label) for label in labels) / width)
    canvas = new_canvas(width, panel_h * num_rows + 0.35 + 0.2 * legend_rows)
    grid = canvas.subplots(num_rows, columns, squeeze=False, sharex=True, sharey=True)
    handles: dict[str, Any] = {}
    for place, axes in enumerate(grid.flat):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        _draw(axes, panels[place], [name for name, _ in names], handles)
        _set_axis(axes, "x", x)
        _set_axis(axes, "y", y)
        # A panel without one below it carries the labels of x itself.
        axes.tick_params(labelbottom=place + columns >= len(panels))
        if place + columns >= len(panels):
            axes.set_xlabel(x.label)
        if place % columns == 0:
            axes.set_ylabel(y.label)
    # Only now: a limit that is set while panels are still to come would hold for them too.
    for axes in grid.flat[: len(panels)] if y.from_zero else ():
        axes.set_ylim(bottom=0.0)
    if len(labels) > len(names):
        handles[_PAPERS] = _hollow()
    canvas.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=math.ceil(len(handles) / legend_rows),
        handlelength=2.4,
        columnspacing=1.4,
    )
    return canvas


def _hollow() -> Any:
    from matplotlib.lines import Line2D  # noqa: PLC0415

    return Line2D([], [], color=GREY, **_HOLLOW)


def _draw(axes: "Axes", panel: Panel, names: list[str], handles: dict[str, Any]) -> None:
    axes.set_title(panel.title)
    if panel.line_at is not None:
        axes.axhline(panel.line_at, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    if not any(math.isfinite(value) for one in panel.series for value in one.y):
        axes.text(0.5, 0.5, "missing", transform=axes.transAxes, ha="center", color=GREY)
    for one in panel.series:
        look = style(one.name, names.index(one.name)) | ({} if one.joined else {"linestyle": "none"})
        (handle,) = axes.plot(one.x, one.y, markeredgewidth=1.0, zorder=3, **look)
        handles.setdefault(one.label, handle)
        if len(one.low):
            axes.fill_between(one.x, one.low, one.high, color=look["color"], alpha=0.13, linewidth=0, zorder=2)
        if one.printed:
            axes.plot(*zip(*one.printed, strict=True), color=look["color"], zorder=4, **_HOLLOW)


def _set_axis(axes: "Axes", which: str, axis: Axis) -> None:
    side = getattr(axes, f"{which}axis")
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
    if axis.ticks:
        side.set_ticks(list(axis.ticks), labels=list(axis.labels) or [f"{tick:g}" for tick in axis.ticks])
        side.set_ticks([], minor=True)
        if axis.labels:
            side.set_tick_params(labelsize=7.5)  # words are longer than numbers
    elif axis.log:
        _plain_log(axes, which)


def _plain_log(axes: "Axes", which: str) -> None:
    """Ticks at 1, 2, 5 · 10ⁿ with plain numbers, or at 10ⁿ where that would be too many: few see 3 in 3·10⁻¹."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415

    side = getattr(axes, f"{which}axis")
    low, high = getattr(axes, f"get_{which}lim")()
    room = 200.0 if which == "x" else 2000.0  # numbers side by side need more of it than one above the other
    subs = (1.0, 2.0, 5.0) if high < room * low else (1.0,)
    side.set_major_locator(LogLocator(base=10.0, subs=subs, numticks=20))
    side.set_minor_locator(NullLocator())
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
