"""Where the error goes (Fig. S1): AbsRel by the distance to the nearest wrong reading."""

from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.lab.bench.report.bootstrap import resampled_means
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.scenes import Scenes, Seen
from mrac.lab.bench.report.labels import method_label, set_label
from mrac.lab.bench.report.paper import Printed
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Entry, Row, Table

EDGES_PX: Final = (0, 20, 40, 60, 80, 120, 200)
_MAX_FRAMES: Final = 48


def tables(context: Context, scenes: Scenes) -> list[Table]:
    """One, over frames of the whole set: the paper's has three."""
    rows = []
    for m, values in measured(scenes).items():
        means = mean_over_frames(values)
        papers = printed(context, m)
        entries = tuple(
            Entry(value=float(mean), paper=papers[i], num_images=values.shape[1]) for i, mean in enumerate(means)
        )
        rows.append(Row(label=method_label(m), entries=entries, paper_label=context.paper_label(m)))
    table = Table(
        key="propagation",
        title=f"Fig. S1: AbsRel by the distance to the nearest wrong reading, px, {set_label(scenes.set_name)}",
        about=f"{which(scenes)} frames, 25 % near readings, K = 50, seed 0. The paper's numbers are of its text.",
        columns=tuple(f"{a} to {b}" for a, b in pairwise(EDGES_PX)),
        rows=tuple(rows),
    )
    return [finished(context, table, "lower", sets=[scenes.set_name], methods=scenes.methods)]


def which(scenes: Scenes) -> str:
    """How many frames of how many."""
    count, whole = len(scenes.typical(_MAX_FRAMES)), len(scenes.by_gap)
    return f"All {whole}" if count == whole else f"{count} of {whole}"


@lru_cache(maxsize=2)
def measured(scenes: Scenes) -> dict[str, FloatArray]:
    """By method, (bins, frames): AbsRel of each frame by distance; for a table and a figure computed once."""
    seen = [(m, binned(frame, m)) for frame in map(scenes.see, scenes.typical(_MAX_FRAMES)) for m in scenes.methods]
    return {m: np.array([bins for name, bins in seen if name == m]).T for m in scenes.methods}


def mean_over_frames(values: FloatArray) -> FloatArray:
    """(bins,) of (bins, frames), over the frames that have such pixels."""
    return np.asarray(resampled_means(values, np.ones((1, values.shape[1])))[0])


def printed(context: Context, method: str) -> list[Printed | None]:
    """What the paper's text says of each bin; the middle of the bin decides."""
    stated = context.paper.propagation() if context.paper else []
    own = [one for one in stated if one[0] == context.counterpart(method)]
    return [
        next((Printed(f"{value:g}", "Fig. S1, text") for _, a, b, value in own if a < (low + high) / 2 < b), None)
        for low, high in pairwise(EDGES_PX)
    ]


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
