"""The paper's gate over its multiplier κ: AbsRel (Table SI), and recall against precision (Table SII)."""

from typing import TYPE_CHECKING, Any, Final

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure, new_canvas, style
from mrac.lab.bench.report.labels import family_label, method_label, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.tables import kappa

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_AXES_IN: Final = 3.4


def figures(context: Context) -> list[Figure]:
    """Two per method that was swept."""
    return [
        figure
        for base, variants in kappa.sweeps(context).items()
        if kappa.conditions(context, variants)
        for figure in _pair(context, base, variants)
    ]


def _pair(context: Context, base: str, variants: dict[float, str]) -> tuple[Figure, Figure]:
    panels = _panels(kappa.conditions(context, variants))
    suffix = "" if base == "mrac_b_prime" else f"_{base}"
    sweep = [Panel(title=title, series=_lines(context, own, variants)) for title, own in panels]
    x, y = Axis(label="κ", ticks=list(variants)), Axis(label="AbsRel", from_zero=True)
    return (
        Figure(
            f"kappa{suffix}",
            f"AbsRel over κ, {method_label(base)} (Table SI)",
            "K = 50.",
            lambda: draw_panels(sweep, x, y),
        ),
        Figure(
            f"precision_recall{suffix}",
            f"Recall against precision of the gate over κ, {method_label(base)} (Table SII)",
            "Along each line κ grows from the circle to the arrow's head. Pale: the paper's.",
            lambda: _plane(context, panels, variants),
        ),
    )


def _panels(cells: list[CellKey]) -> list[tuple[str, list[CellKey]]]:
    """Conditions by family and fraction."""
    found: dict[str, list[CellKey]] = {}
    for cell in cells:
        found.setdefault(f"{family_label(cell.family)}, {percent(cell.fraction)}", []).append(cell)
    return list(found.items())


def _lines(context: Context, cells: list[CellKey], variants: dict[float, str]) -> list[Series]:
    series = []
    for cell in cells:
        seeds = context.common_seed(cell.with_method(m) for m in variants.values())
        entries = [context.entry(cell.with_method(m), seeds=seeds, files=("kappa",)) for m in variants.values()]
        series.append(
            Series(
                name=set_label(cell.set),
                label=set_label(cell.set),
                x=list(variants),
                y=[float("nan") if e.value is None else e.value for e in entries],
                printed=[(k, e.paper.value) for k, e in zip(variants, entries, strict=True) if e.paper],
            )
        )
    return series


def _plane(context: Context, panels: list[tuple[str, list[CellKey]]], variants: dict[float, str]) -> "Canvas":
    canvas = new_canvas(_AXES_IN * len(panels) + 0.4, _AXES_IN + 0.3)
    grid = canvas.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True)
    sets = list(dict.fromkeys(cell.set for _, own in panels for cell in own))
    handles: dict[str, Any] = {}
    for axes, (title, own) in zip(grid.flat, panels, strict=True):
        axes.set_title(title)
        axes.set_xlabel("precision: share of the rejected that were wrong")
        axes.set_aspect("equal")
        for cell in own:
            look = style(set_label(cell.set), sets.index(cell.set))
            seeds = context.common_seed(cell.with_method(m) for m in variants.values())
            ours = [
                [context.entry(cell.with_method(m), metric, seeds=seeds, files=("kappa",)) for m in variants.values()]
                for metric in ("gate_precision", "gate_recall")
            ]
            xy = [(p.value, r.value) for p, r in zip(*ours, strict=True) if p.value is not None and r.value is not None]
            paper = [(p.paper.value, r.paper.value) for p, r in zip(*ours, strict=True) if p.paper and r.paper]
            _arrow(axes, paper, look["color"], alpha=0.35)
            handle = _arrow(axes, xy, look["color"], alpha=1.0)
            if handle is not None:
                handles.setdefault(set_label(cell.set), handle)
    first = grid[0][0]
    first.set_ylabel("recall: share of the wrong that were rejected")
    lowest = min(
        (v for axes in grid.flat for line in axes.lines for v in (*line.get_xdata(), *line.get_ydata())), default=0
    )
    first.set(xlim=(int(10 * lowest) / 10, 1.03), ylim=(int(10 * lowest) / 10, 1.03))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=len(handles))
    return canvas


def _arrow(axes: "Axes", xy: list[tuple[float, float]], color: str, alpha: float) -> Any:
    """A line from the smallest κ, a circle, to the largest, an arrow's head."""
    if len(xy) < 2:
        return None
    x, y = zip(*xy, strict=True)
    (line,) = axes.plot(x, y, color=color, alpha=alpha, marker=".", markersize=4, zorder=3 if alpha == 1.0 else 2)
    axes.plot(x[:1], y[:1], color=color, alpha=alpha, marker="o", fillstyle="none", markersize=7)
    axes.annotate(
        "", xy=xy[-1], xytext=xy[-2], arrowprops={"arrowstyle": "-|>", "color": color, "alpha": alpha, "shrinkB": 0}
    )
    return line
