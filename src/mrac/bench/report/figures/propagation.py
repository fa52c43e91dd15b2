"""Where the error goes (Fig. S1): AbsRel against the distance to the nearest wrong reading."""

from itertools import pairwise
from typing import Final

import numpy as np

from mrac.bench.report.bootstrap import mean_intervals, resampled_means
from mrac.bench.report.context import Context
from mrac.bench.report.figures.look import Figure
from mrac.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.bench.report.figures.scenes import Scenes, Seen
from mrac.bench.report.labels import method_label, set_label
from mrac.conventions import FloatArray

EDGES_PX: Final = (0, 20, 40, 60, 80, 120, 200)
_MAX_FRAMES: Final = 48


def figures(context: Context, scenes: Scenes) -> list[Figure]:
    """One, over frames of the whole set: the paper's has three."""
    places = scenes.by_gap
    count = min(len(places), _MAX_FRAMES)
    which = "all" if count == len(places) else f"{count} of {len(places)}"
    about = (
        f"{set_label(scenes.set_name)}, {which} frames, 25 % near readings, K = 50, seed 0. Pixels are binned by the "
        "distance to the nearest injected reading; mean over frames, bands are 95 % intervals under resampling of "
        "them. The paper has three frames of KITTI; hollow: what its text says of them."
    )
    frames = [places[int((i + 0.5) * len(places) / count)] for i in range(count)]
    return [
        Figure(
            "propagation",
            "AbsRel against the distance to the nearest wrong reading (Fig. S1)",
            about,
            lambda: draw_panels([_panel(context, scenes, frames)], _X, _Y, num_columns=1),
        )
    ]


_X: Final = Axis(label="distance to the nearest injected reading, px", ticks=EDGES_PX)
_Y: Final = Axis(label="AbsRel", from_zero=True)


def binned(seen: Seen, method: str) -> FloatArray:
    """(bins,) AbsRel of one frame by distance; NaN for a bin without a scored pixel."""
    from scipy.ndimage import distance_transform_edt  # noqa: PLC0415

    error = seen.error(method)
    away = np.ones(error.shape, np.bool_)
    u, v = np.rint(seen.drawn.anchors.uv_px[seen.drawn.wrong]).astype(np.intp).T
    away[v, u] = False
    if away.all():
        return np.full(len(EDGES_PX) - 1, np.nan)
    scored = np.isfinite(error)
    bins = np.digitize(distance_transform_edt(away)[scored], EDGES_PX[1:])
    total = np.bincount(bins, error[scored], len(EDGES_PX))[:-1]
    count = np.bincount(bins, minlength=len(EDGES_PX))[:-1]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _panel(context: Context, scenes: Scenes, frames: list[int]) -> Panel:
    values: dict[str, list[FloatArray]] = {m: [] for m in scenes.methods}
    for place in frames:
        seen = scenes.see(place)
        for m in scenes.methods:
            values[m].append(binned(seen, m))
    centres = [(a + b) / 2 for a, b in pairwise(EDGES_PX)]
    printed: dict[str, list[tuple[float, float]]] = {}
    for theirs, from_px, to_px, value in context.paper.propagation() if context.paper else ():
        printed.setdefault(theirs, []).extend((centre, value) for centre in centres if from_px < centre < to_px)
    series = []
    for m in scenes.methods:
        table = np.array(values[m]).T
        low, high = mean_intervals(table, scenes.set_name, context.seed)
        y = resampled_means(table, np.ones((1, table.shape[1])))[0]
        points = printed.get(context.counterpart(m), [])
        series.append(
            Series(name=m, label=method_label(m), x=centres, y=list(y), low=list(low), high=list(high), printed=points)
        )
    return Panel(title=set_label(scenes.set_name), series=series)
