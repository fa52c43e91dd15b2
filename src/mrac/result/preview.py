"""The picture of a result: photo with the anchors by verdict, depth and its standard deviation, scales, legend."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from PIL import Image, ImageDraw

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray, in_image
from mrac.io.picture import (
    DEPTH_STOPS,
    INK,
    SIGMA_STOPS,
    depth_colours,
    depth_limits,
    draw_anchors,
    draw_scale,
    font,
    marker,
    verdict_colour,
)
from mrac.result.inputs import checked_anchors, checked_image
from mrac.result.metric_depth import MetricDepth

_PAPER, _GREY, _AMBER, _CHIP = "#ffffff", "#6b7280", "#b45309", "#4b5563"
_WIDE: Final = 2.2  # width over height, from which pictures stand below each other
_TITLE, _SCALE, _ABOVE_LEGEND = 30, 46, 10  # heights on a page of 1280

_Pixels = TypeVar("_Pixels", ImageArray, FloatArray)


@dataclass(frozen=True)
class _Page:
    """Sizes in pixels. `unit` is that of the page over 1280, at which all text is readable."""

    unit: float
    picture: tuple[int, int]
    column: int
    stacked: bool

    def px(self, size: float) -> int:
        return round(size * self.unit)


@dataclass(frozen=True)
class _Line:
    text: str
    colour: str
    size: int


@dataclass(frozen=True)
class _Entry:
    """Of the legend."""

    kept: bool
    reason: str
    text: str


@dataclass(frozen=True)
class _Panel:
    title: str
    picture: Image.Image
    limits: tuple[float, float] | None = None
    stops: tuple[str, ...] = ()
    legend: tuple[_Entry, ...] = ()


def preview(result: MetricDepth, anchors: Anchors | None = None, image: ImageArray | None = None) -> Image.Image:
    """Photo, depth and standard deviation side by side (wide ones below each other), a scale to each, and a legend.

    The page has 1920 pixels in width, or 1280 for wide images, less for tall ones; it is readable at 1280.

    Args:
        result: what to show.
        anchors: the readings that it was made from; without them none is drawn, and the legend has the counts alone.
        image: (H, W, 3) uint8, the photograph; without it the readings are drawn on the depth.

    Raises:
        ContractError: image or anchors are of another result.
    """
    image = checked_image(image, result, "preview")
    anchors = checked_anchors(anchors, result, "preview")
    legend = tuple(_legend(result, anchors))
    page = _page(result.depth_m.shape, legend)
    panels = [
        _metres("depth", result.depth_m, DEPTH_STOPS, page.picture),
        _metres("standard deviation of depth", result.sigma_m, SIGMA_STOPS, page.picture),
    ]
    if image is not None:
        photo = Image.fromarray(_thinned(image, page.picture)).resize(page.picture, Image.Resampling.LANCZOS)
        panels.insert(0, _Panel("photo" if anchors is None else "photo with readings", photo))
    if anchors is not None:
        zoom = np.array(page.picture) / result.depth_m.shape[::-1]
        verdicts = result.anchors
        # A reading may be anywhere: one that overflows lies outside the picture, as it does outside the image.
        with np.errstate(over="ignore"):
            uv_px = (anchors.uv_px + 0.5) * zoom - 0.5
        draw_anchors(panels[0].picture, uv_px, ~verdicts.keep, 1.0, verdicts.reason)
    panels[0] = replace(panels[0], legend=legend)
    return _compose(page, panels, _header(result))


def _page(shape: tuple[int, ...], legend: tuple[_Entry, ...]) -> _Page:
    """Three pictures side by side on 1920 pixels, or wide ones below each other on 1280."""
    height, width = shape
    stacked = width > _WIDE * height
    unit = 1.0 if stacked else 1.5
    whole = round((1280 - 2 * 24) * unit)
    room = whole if stacked else (whole - 2 * round(20 * unit)) // 3
    zoom = min(room / width, 720.0 / height)
    size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
    narrow = _Page(unit, size, round(190 * unit), stacked)  # the longest title is that wide
    return replace(narrow, column=max(size[0], narrow.column, *(_length(entry, narrow) for entry in legend)))


def _metres(title: str, values_m: FloatArray, stops: tuple[str, ...], size: tuple[int, int]) -> _Panel:
    limits = depth_limits(_thinned(values_m, size))
    return _Panel(title, Image.fromarray(depth_colours(_resized(values_m, size), limits, stops)), limits, stops)


def _thinned(pixels: _Pixels, size: tuple[int, int]) -> _Pixels:
    """Every n-th row and column, at least three per pixel of the picture: a copy of 50 megapixels would be large."""
    step = max(1, min(pixels.shape[1] // (3 * size[0]), pixels.shape[0] // (3 * size[1])))
    return pixels[::step, ::step]


def _resized(values: FloatArray, size: tuple[int, int]) -> FloatArray:
    small = Image.fromarray(np.ascontiguousarray(_thinned(values, size), np.float32))
    how = Image.Resampling.BOX if small.width > size[0] else Image.Resampling.BILINEAR
    return np.asarray(small.resize(size, how))


def _header(result: MetricDepth) -> list[_Line]:
    keep = result.anchors.keep
    depth = f"{result.depth_m.min():.2f} to {result.depth_m.max():.2f} m"
    stages = ", ".join(f"{stage} {name}" for stage, name in result.stages.items())
    return [
        _Line(f"{depth}, {keep.sum()} of {keep.size} readings kept, status {result.status}", INK, 19),
        *(_Line(f"{w.kind}, {w.name}: {w.message}", _AMBER, 14) for w in result.warnings),
        *([_Line(stages, _GREY, 14)] if stages else []),
    ]


def _legend(result: MetricDepth, anchors: Anchors | None) -> list[_Entry]:
    """Of each verdict and reason how many there are, kept ones first and then by number."""
    pairs = [(bool(k), str(r)) for k, r in zip(result.anchors.keep, result.anchors.reason, strict=True)]
    hidden: Counter[tuple[bool, str]] = Counter()
    if anchors is not None:
        height, width = result.depth_m.shape
        seen = in_image(anchors.uv_px, (width, height))
        hidden = Counter(pair for pair, visible in zip(pairs, seen, strict=True) if not visible)
    entries = []
    for (kept, reason), num in sorted(Counter(pairs).items(), key=lambda item: (not item[0][0], -item[1], item[0][1])):
        unseen = hidden[kept, reason]
        note = "" if not unseen else " (not drawn)" if unseen == num else f" ({unseen} not drawn)"
        entries.append(_Entry(kept, reason, f"{num} {reason.replace('_', ' ')}{note}"))
    return entries


def _compose(page: _Page, panels: list[_Panel], header: list[_Line]) -> Image.Image:
    margin, gap = page.px(24), page.px(20)
    across = 1 if page.stacked else len(panels)
    inner = across * page.column + (across - 1) * gap
    lines = [replace(line, text=part) for line in header for part in _wrapped(line.text, page.px(line.size), inner)]
    rows = [[panel] for panel in panels] if page.stacked else [panels]
    heights = [max(_height(panel, page) for panel in row) for row in rows]
    top = sum(page.px(line.size * 1.5) for line in lines)
    whole = Image.new("RGB", (inner + 2 * margin, top + sum(heights) + 2 * margin), _PAPER)
    draw, y = ImageDraw.Draw(whole), margin
    for line in lines:
        draw.text((margin, y), line.text, fill=line.colour, font=font(page.px(line.size)))
        y += page.px(line.size * 1.5)
    for row, height in zip(rows, heights, strict=True):
        for number, panel in enumerate(row):
            _put(whole, panel, page, (margin + number * (page.column + gap), y))
        y += height
    return whole


def _height(panel: _Panel, page: _Page) -> int:
    """Of title, picture, scale and legend."""
    scale = page.px(_SCALE) if panel.limits else 0
    legend = page.px(_ABOVE_LEGEND) + _flowed(panel.legend, page)[1] if panel.legend else 0
    return page.px(_TITLE) + panel.picture.height + scale + legend


def _put(whole: Image.Image, panel: _Panel, page: _Page, corner: tuple[int, int]) -> None:
    """A panel's title, picture, scale and legend, from its upper left corner."""
    x, y = corner
    ImageDraw.Draw(whole).text((x, y + page.px(22)), panel.title, fill=INK, font=font(page.px(15)), anchor="ls")
    y += page.px(_TITLE)
    whole.paste(panel.picture, (x, y))
    y += panel.picture.height
    if panel.limits is not None:
        # A scale as long as the page is wide is no easier to read than one of half its length.
        box = (x, y + page.px(8), min(page.column, page.px(560)), page.px(10))
        draw_scale(whole, box, panel.limits, panel.stops, page.px(13))
        y += page.px(_SCALE)
    for entry, place in zip(panel.legend, _flowed(panel.legend, page)[0], strict=True):
        _put_entry(whole, page, (x + place[0], y + page.px(_ABOVE_LEGEND) + place[1]), entry)


def _wrapped(text: str, size: int, width: int) -> list[str]:
    """The text in lines that are no wider than `width`, broken between words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font(size).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _flowed(legend: tuple[_Entry, ...], page: _Page) -> tuple[list[tuple[int, int]], int]:
    """Where in a column each entry goes, from its upper left corner, and the height of all."""
    places: list[tuple[int, int]] = []
    x = y = 0
    for entry in legend:
        length = _length(entry, page)
        if x and x + length > page.column:
            x, y = 0, y + page.px(27)
        places.append((x, y))
        x += length + page.px(22)
    return places, y + page.px(27)


def _length(entry: _Entry, page: _Page) -> int:
    return page.px(28) + round(font(page.px(14)).getlength(entry.text))


def _put_entry(whole: Image.Image, page: _Page, corner: tuple[int, int], entry: _Entry) -> None:
    """A marker on a dark chip, since kept ones are white, and the text to its right."""
    (x, y), side = corner, page.px(20) | 1  # odd, so that the marker has a middle
    whole.paste(_CHIP, (x, y, x + side, y + side))
    sprite = marker(page.px(5), verdict_colour(entry.kept, entry.reason), entry.kept)
    inset = (side - sprite.width) // 2
    whole.paste(sprite, (x + inset, y + inset), sprite)
    text = (x + page.px(28), y + side / 2)
    ImageDraw.Draw(whole).text(text, entry.text, fill=INK, font=font(page.px(14)), anchor="lm")
