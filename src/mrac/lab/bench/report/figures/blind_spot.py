"""The blind-spot panel (Fig. 5): image, truth and every method's depth, with readings kept, injected and rejected.

It shows images of a data set; see `figures/scenes.py` on what may be done with them.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mrac.io.picture import depth_limits
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.photos import WIDE, marks, photo_figure, show_depth, show_photo, show_truth
from mrac.lab.bench.report.figures.scenes import Scenes, Seen
from mrac.lab.bench.report.figures.style import Figure, new_canvas
from mrac.lab.bench.report.labels import method_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_FRAMES: Final = 3
_WIDTH_IN: Final = 12.0


def figures(context: Context, scenes: Scenes) -> list[Figure]:
    """One, of the set that `scenes` shows."""
    about = (
        "White squares: right readings that are kept; red crosses: injected ones; green circles: rejected before the "
        "head saw them. A cross without a circle was believed. Frames are evenly spaced in the order of how much the "
        "gate gains: neither the best nor the worst."
    )
    title = "What readings that are too near do (Fig. 5)"
    return [photo_figure(scenes, "blind_spot", title, about, lambda: _draw(scenes))]


def _draw(scenes: Scenes) -> "Canvas":
    seen = [scenes.see(place) for place in scenes.typical(_FRAMES)]
    H, W = seen[0].sample.truth_m.shape
    lines = [_pictures(one, scenes.methods) for one in seen]  # one per frame
    wide = W / H > WIDE
    shape = (len(lines[0]), len(lines)) if wide else (len(lines), len(lines[0]))
    canvas = new_canvas(_WIDTH_IN, (_WIDTH_IN / shape[1] * H / W + 0.22) * shape[0] + 0.6)
    grid = canvas.subplots(*shape, squeeze=False)
    layout: Any = canvas.get_layout_engine()
    layout.set(w_pad=0.04, h_pad=0.04, wspace=0.0, hspace=0.0)
    for f, pictures in enumerate(lines):
        for p, (title, draw) in enumerate(pictures):
            axes = grid[p][f] if wide else grid[f][p]
            draw(axes)
            axes.set_title(title, fontsize=9)
    canvas.legend(
        handles=marks(),
        loc="outside lower center",
        ncols=3,
        title="depth: bright is near, dark is far, on one scale per frame",
        title_fontsize=9,
    )
    return canvas


def _pictures(seen: Seen, methods: list[str]) -> list[tuple[str, Any]]:
    """Title and drawing of each picture of a frame."""
    limits = depth_limits(np.where(seen.sample.scored, seen.sample.truth_m, np.nan))
    scale = f"{limits[0]:.1f} to {limits[1]:.1f} m"
    found: list[tuple[str, Any]] = [
        ("image and readings", partial(show_photo, seen=seen)),
        (f"true depth, {scale}", partial(show_truth, seen=seen, limits=limits)),
    ]
    for m in methods:
        title = f"{method_label(m)}: AbsRel {seen.abs_rel(m):.3f}"
        found.append((title, partial(show_depth, seen=seen, method=m, limits=limits)))
    return found
