"""The demo's picture: image and anchors, and depth and error of each method, on one slide."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from mrac.examples import Example
from mrac.io.picture import depth_bar, depth_colours, depth_limits, draw_anchors, error_colours, font
from mrac.result import MetricDepth

_CELL_W, _GAP, _TITLE, _MARGIN, _HEAD, _FOOT = 400, 16, 34, 28, 92, 64
_WORST_ERROR: Final = 0.5
_PAPER, _INK, _GREY = "#ffffff", "#16181d", "#6b7280"


def panel(scene: Example, columns: Sequence[tuple[str, MetricDepth, float]]) -> Image.Image:
    """Two rows of pictures: inputs on the left, then per method its depth above and its error below.

    Args:
        scene: the inputs and the truth.
        columns: label, result and AbsRel of each method shown.
    """
    H, W = scene.depth_m.shape
    zoom = _CELL_W / W
    cell_h = round(H * zoom)
    limits = depth_limits(scene.depth_m)
    photo = Image.fromarray(scene.image).resize((_CELL_W, cell_h), Image.Resampling.LANCZOS)
    draw_anchors(photo, scene.anchors.uv_px, scene.wrong, zoom)
    wrong = int(scene.wrong.sum())
    cells = [
        (0, 0, f"image, {len(scene.anchors)} readings, {wrong} of them wrong (crosses)", photo),
        (1, 0, "measured depth", _shrink(depth_colours(scene.depth_m, limits), cell_h)),
    ]
    for c, (label, result, abs_rel) in enumerate(columns, start=1):
        depth = _shrink(depth_colours(result.depth_m, limits), cell_h)
        draw_anchors(depth, scene.anchors.uv_px, ~result.anchors.keep, zoom)
        error = np.abs(result.depth_m - scene.depth_m) / scene.depth_m
        cells.append((0, c, label, depth))
        cells.append((1, c, f"error: AbsRel {abs_rel:.3f}", _shrink(error_colours(error, _WORST_ERROR), cell_h)))

    num_columns = len(columns) + 1
    width = 2 * _MARGIN + num_columns * _CELL_W + (num_columns - 1) * _GAP
    page = Image.new("RGB", (width, _HEAD + 2 * (cell_h + _TITLE) + _GAP + _FOOT), _PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((_MARGIN, 20), "Metric depth when the range sensor lies", fill=_INK, font=font(30))
    draw.text(
        (_MARGIN, 58),
        "One image and 50 readings, a quarter pulled near by multipath. Rings: readings used; crosses: rejected. "
        "Relative depth: the network inside the package, which never saw this scene.",
        fill=_GREY,
        font=font(17),
    )
    for row, column, title, picture in cells:
        x = _MARGIN + column * (_CELL_W + _GAP)
        y = _HEAD + row * (cell_h + _TITLE + _GAP)
        draw.text((x, y + _TITLE - 8), title, fill=_INK, font=font(17), anchor="ls")
        page.paste(picture, (x, y + _TITLE))
    _legend(page, limits)
    return page


def _shrink(picture: object, height: int) -> Image.Image:
    return Image.fromarray(np.asarray(picture)).resize((_CELL_W, height), Image.Resampling.BOX)


def _legend(page: Image.Image, limits: tuple[float, float]) -> None:
    """Colour bars for depth and error along the bottom."""
    draw = ImageDraw.Draw(page)
    y, bar = page.height - _FOOT // 2, (200, 14)
    errors = np.repeat(error_colours(np.linspace(0, _WORST_ERROR, bar[0])[None], _WORST_ERROR), bar[1], axis=0)
    x = _MARGIN
    for left, picture, right in (
        (f"depth  {limits[0]:.1f} m", depth_bar(limits, bar), f"{limits[1]:.1f} m"),
        ("relative error  0", Image.fromarray(errors), f"{_WORST_ERROR:.0%} and more"),
    ):
        draw.text((x, y), left, fill=_INK, font=font(16), anchor="lm")
        x += round(draw.textlength(left, font=font(16))) + 10
        page.paste(picture, (x, y - bar[1] // 2))
        x += bar[0] + 10
        draw.text((x, y), right, fill=_INK, font=font(16), anchor="lm")
        x += round(draw.textlength(right, font=font(16))) + 60
