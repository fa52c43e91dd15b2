"""Where the error goes (Fig. S1): AbsRel against the distance to the nearest wrong reading."""

from itertools import pairwise
from typing import Final

from mrac.lab.bench.report.bootstrap import mean_intervals
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import method_label, set_label
from mrac.lab.bench.report.tables.propagation import EDGES_PX, mean_over_frames, measured, printed, which

_X: Final = Axis(label="distance to the nearest injected reading, px", ticks=EDGES_PX)
_Y: Final = Axis(label="AbsRel", from_zero=True)


def figures(context: Context, scenes: Scenes) -> list[Figure]:
    """One, over frames of the whole set: the paper's has three."""
    about = (
        f"{set_label(scenes.set_name)}, {which(scenes).lower()} frames, 25 % near readings, K = 50, seed 0. Pixels are "
        "binned by the distance to the nearest injected reading; mean over frames, bands are 95 % intervals under "
        "resampling of them. The paper has three frames of KITTI; hollow: what its text says of them."
    )
    return [
        Figure(
            "propagation",
            "AbsRel against the distance to the nearest wrong reading (Fig. S1)",
            about,
            lambda: draw_panels([_panel(context, scenes)], _X, _Y, num_columns=1),
        )
    ]


def _panel(context: Context, scenes: Scenes) -> Panel:
    centres = [(a + b) / 2 for a, b in pairwise(EDGES_PX)]
    series = []
    for m, values in measured(scenes).items():
        low, high = mean_intervals(values, scenes.set_name, context.seed)
        points = [(x, one.value) for x, one in zip(centres, printed(context, m), strict=True) if one]
        y = list(mean_over_frames(values))
        series.append(
            Series(name=m, label=method_label(m), x=centres, y=y, low=list(low), high=list(high), printed=points)
        )
    return Panel(title=set_label(scenes.set_name), series=series)
