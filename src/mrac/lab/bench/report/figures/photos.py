"""Pictures of a frame with its anchors upon it: kept, injected, rejected."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.io.picture import depth_colours, error_colours
from mrac.lab.bench.report.figures.scenes import Scenes, Seen
from mrac.lab.bench.report.figures.style import INK, Figure
from mrac.lab.bench.report.labels import set_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WRONG: Final = "#ff2d20"
CAUGHT: Final = "#00d25b"
WORST_ERROR: Final = 0.5
WIDE: Final = 2.0  # width over height, from which pictures stand below each other rather than side by side
_REACH_PX: Final = 3.0


def photo_figure(scenes: Scenes, key: str, title: str, about: str, draw: Callable[[], "Canvas"]) -> Figure:
    """A figure that shows images; `about` is put behind the set and the condition that `scenes` runs."""
    setting = f"{set_label(scenes.set_name)}, 25 % near readings, K = 50, seed 0."
    return Figure(key, title, f"{setting} {about}", draw, has_photos=True)


def show_photo(axes: "Axes", seen: Seen) -> None:
    """The image with all anchors: white squares are right, red crosses wrong."""
    _picture(axes, seen.sample.image)
    draw_anchors(axes, seen, "")


def show_truth(axes: "Axes", seen: Seen, limits: tuple[float, float]) -> None:
    """True depth; sparse points are drawn larger than they are, or nobody would see them."""
    _picture(axes, depth_colours(_thickened(seen.sample.truth_m), limits))


def show_depth(axes: "Axes", seen: Seen, method: str, limits: tuple[float, float]) -> None:
    """A method's depth with its verdicts."""
    _picture(axes, depth_colours(seen.answers[method].depth_m, limits))
    draw_anchors(axes, seen, method)


def show_error(axes: "Axes", seen: Seen, method: str) -> None:
    """A method's relative error where there is truth, with its verdicts."""
    _picture(axes, error_colours(_thickened(seen.error(method)), WORST_ERROR))
    draw_anchors(axes, seen, method)


def draw_anchors(axes: "Axes", seen: Seen, method: str) -> None:
    """White squares: right; red crosses: injected; green circles: rejected by the method, if one is given."""
    uv, wrong = seen.drawn.anchors.uv_px, seen.drawn.wrong
    rejected = seen.rejected(method) if method else np.zeros(wrong.size, np.bool_)
    kept = ~wrong & ~rejected
    axes.plot(*uv[kept].T, "s", color="white", markeredgecolor=INK, markeredgewidth=0.5, markersize=2.6)
    axes.plot(*uv[wrong].T, "x", color=INK, markersize=5.2, markeredgewidth=2.2)
    axes.plot(*uv[wrong].T, "x", color=WRONG, markersize=4.6, markeredgewidth=1.3)
    for color, width in ((INK, 2.2), (CAUGHT, 1.3)):
        axes.plot(*uv[rejected].T, "o", color=color, fillstyle="none", markersize=7.5, markeredgewidth=width)


def marks() -> list[Any]:
    """Handles for a legend of the marks."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    handle: Any = partial(Line2D, [], [], linestyle="none")
    return [
        handle(marker="s", color="white", markeredgecolor=INK, label="right, kept"),
        handle(marker="x", color=WRONG, markeredgewidth=1.5, label="injected: too near"),
        handle(marker="o", color=CAUGHT, fillstyle="none", markersize=8, label="rejected by the gate"),
    ]


def _picture(axes: "Axes", pixels: Any) -> None:
    axes.imshow(pixels, interpolation="antialiased")
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    H, W = pixels.shape[:2]
    axes.set(xlim=(-0.5, W - 0.5), ylim=(H - 0.5, -0.5))


def _thickened(values: FloatArray) -> FloatArray:
    """Holes filled from the nearest value within three pixels; a dense map stays as it is."""
    from scipy.ndimage import distance_transform_edt  # noqa: PLC0415

    empty = ~np.isfinite(values)
    if empty.mean() < 0.5:
        return values
    distance_px, nearest = distance_transform_edt(empty, return_indices=True)
    return np.where(distance_px <= _REACH_PX, values[tuple(nearest)], np.nan)
