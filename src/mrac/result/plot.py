"""A result drawn with matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import MissingExtra
from mrac.io.picture import DEPTH_STOPS, INK, SIGMA_STOPS, depth_limits, metric_ticks, verdict_colour
from mrac.result.inputs import checked_anchors, checked_image
from mrac.result.metric_depth import MetricDepth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BELOW_PICTURE = -0.035  # upper edge of the legend, in heights of the picture


def plot(
    result: MetricDepth, ax: "Axes | None" = None, image: ImageArray | None = None, anchors: Anchors | None = None
) -> "Axes":
    """Draws the result; see `MetricDepth.plot`."""
    try:
        from matplotlib import layout_engine, pyplot  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("plot", "view") from None
    image = checked_image(image, result, "plot")
    anchors = checked_anchors(anchors, result, "plot")
    if ax is not None:
        _draw_metres(ax, result.depth_m, DEPTH_STOPS, "depth, m")
        if anchors is not None:
            _draw_anchors(ax, result, anchors, None)  # inside: the room around it is not ours
        return ax
    num = 2 if image is None else 3
    height, width = result.depth_m.shape
    stacked = width > 2.2 * height
    size = (
        (9.0, num * 9.0 * height / width + 1.2 * num) if stacked else (4.6 * num, 4.6 * min(height / width, 2.0) + 1.4)
    )
    room = layout_engine.ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.12)
    figure, grid = pyplot.subplots(*((num, 1) if stacked else (1, num)), figsize=size, layout=room)
    axes = list(np.ravel(grid))
    if image is not None:
        axes[0].imshow(image)
        axes[0].set_axis_off()
        axes[0].set_title("photo" if anchors is None else "photo with readings")
    depth_axes: Axes = axes[-2]
    _draw_metres(depth_axes, result.depth_m, DEPTH_STOPS, "depth, m")
    _draw_metres(axes[-1], result.sigma_m, SIGMA_STOPS, "standard deviation of depth, m")
    if anchors is not None:
        _draw_anchors(axes[0], result, anchors, None if image is None else _BELOW_PICTURE)
    figure.suptitle(repr(result), fontsize="medium")
    return depth_axes


def _draw_metres(ax: "Axes", values_m: FloatArray, stops: tuple[str, ...], title: str) -> None:
    """(H, W) metres in colours, even in their logarithm, with a colour bar below."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm  # noqa: PLC0415

    limits = depth_limits(values_m)
    colours = LinearSegmentedColormap.from_list(title, list(stops))
    shown = ax.imshow(values_m, cmap=colours, norm=LogNorm(*limits))
    ax.set_title(title)
    ax.set_axis_off()
    ticks = metric_ticks(limits)
    # Inset, so that pictures with and without a scale stay of one size.
    bar = ax.figure.colorbar(shown, cax=ax.inset_axes((0.0, -0.07, 1.0, 0.035)), orientation="horizontal")
    bar.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
    bar.minorticks_off()


def _draw_anchors(ax: "Axes", result: MetricDepth, anchors: Anchors, legend_y: float | None) -> None:
    """Rings and crosses by verdict, with a legend that counts them; those outside the image are counted alone.

    Args:
        ax: shows the image or its depth.
        result: has the verdicts.
        anchors: have the positions.
        legend_y: of the legend's upper edge, in heights of the picture; None puts it inside, where a scale is below.
    """
    from matplotlib import patheffects  # noqa: PLC0415

    height, width = result.depth_m.shape
    keep, reason = result.anchors.keep, result.anchors.reason
    verdicts = sorted({(not k, str(r)) for k, r in zip(keep, reason, strict=True)})
    for rejected, word in verdicts:
        chosen = (keep != rejected) & (reason == word)
        style: dict[str, Any] = {"marker": "x" if rejected else "o", "s": 26}
        colour = verdict_colour(not rejected, word)
        style |= {"color": colour} if rejected else {"facecolors": "none", "edgecolors": colour}
        drawn = ax.scatter(*anchors.uv_px[chosen].T, label=f"{chosen.sum()} {word.replace('_', ' ')}", **style)
        drawn.set_path_effects([patheffects.withStroke(linewidth=3, foreground=INK)])
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    if verdicts:
        style = {"facecolor": "#d1d5db", "fontsize": "small", "ncols": 2}
        if legend_y is not None:
            style |= {"bbox_to_anchor": (0.0, legend_y), "borderaxespad": 0.0}
        ax.legend(loc="upper left", **style)
