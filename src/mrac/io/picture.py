"""Colours, colour bars with metric ticks, and anchors, of which every picture of depth is made."""

import math
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mrac.conventions import BoolArray, FloatArray, ImageArray, TextArray, in_image

# Near is bright and warm, far is dark and cold; a small deviation is dark, a large one bright; errors run from blue to
# red. Even steps, readable in grey.
DEPTH_STOPS: Final = ("#fff7c2", "#fdc45f", "#f2815a", "#c9477a", "#7c2c8e", "#33206e", "#0b0c2a")
SIGMA_STOPS: Final = ("#08141f", "#0f3c52", "#156e78", "#3fa28c", "#9fd08e", "#f6f4b8")
_ERROR_STOPS: Final = ("#0d1321", "#1d4e6b", "#3fa28c", "#f3d368", "#f28a3b", "#c2203a")
KEPT: Final = "#ffffff"
REJECTED: Final = "#ff3b30"
# Of rejected anchors, by the start of the reason; those that could not be used at all, and any other, are grey.
_REASON_COLOURS: Final = (
    ("nearer", REJECTED),
    ("farther", "#2f9bff"),
    ("contradicts", "#ff9f0a"),
    ("repeated", "#d65bff"),
    ("outvoted", "#ffd60a"),
)
_UNUSABLE: Final = "#b8c0cc"
INK: Final = "#16181d"
_MANY: Final = 2000  # anchors, from which kept ones are dots rather than rings
_FINE: Final = 8  # times the size at which a marker is drawn before it is reduced, for smooth edges


def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font built into Pillow, so that pictures are the same on every machine."""
    return ImageFont.load_default(size)


def _colours(share: FloatArray, stops: tuple[str, ...]) -> ImageArray:
    """Values in [0, 1], any shape, through evenly spaced colour stops: uint8 RGB on a last axis."""
    table = np.array([[int(s[i : i + 2], 16) for i in (1, 3, 5)] for s in stops], dtype=np.float64)
    fine = np.linspace(0.0, len(stops) - 1.0, 256)
    ramp = np.stack([np.interp(fine, np.arange(len(stops)), table[:, c]) for c in range(3)], axis=1)
    index = np.clip(np.nan_to_num(share) * 255.0 + 0.5, 0, 255).astype(np.uint8)
    return np.asarray(ramp.astype(np.uint8)[index])


def depth_limits(depth_m: FloatArray) -> tuple[float, float]:
    """The depths, in metres, of the first and last colour: the 1st and 99th percentile of the finite values."""
    low, high = np.nanpercentile(depth_m, [1.0, 99.0])
    return float(low), float(max(high, low * 1.01))


def depth_colours(depth_m: FloatArray, limits: tuple[float, float], stops: tuple[str, ...] = DEPTH_STOPS) -> ImageArray:
    """(H, W) metres as (H, W, 3) colours, even in the logarithm between `limits`; NaN is grey."""
    low, high = np.log(limits)
    with np.errstate(invalid="ignore"):
        coloured = _colours((np.log(depth_m) - low) / (high - low), stops)
    coloured[~np.isfinite(depth_m)] = 96
    return coloured


def error_colours(error: FloatArray, worst: float) -> ImageArray:
    """(H, W) relative errors >= 0 as (H, W, 3) colours, the last one at `worst` and above; NaN is grey."""
    coloured = _colours(error / worst, _ERROR_STOPS)
    coloured[~np.isfinite(error)] = 96
    return coloured


def verdict_colour(keep: bool, reason: str) -> str:
    """The colour of an anchor with this verdict."""
    if keep:
        return KEPT
    return next((colour for start, colour in _REASON_COLOURS if reason.startswith(start)), _UNUSABLE)


def marker(radius: float, colour: str, kept: bool, dot: bool = False) -> Image.Image:
    """A ring (kept) or a cross, with a dark edge, on a transparent square.

    Args:
        radius: of the ring, or half the side of the cross, pixels.
        colour: of its line.
        kept: whether it is a ring.
        dot: a filled disc in place of the ring.
    """
    half = math.ceil(radius * 1.5) + 1
    # Transparent ink, not transparent black or white: its colour tints the edges when the marker is reduced.
    fine = Image.new("RGBA", (_FINE * (2 * half + 1),) * 2, f"{INK}00")
    draw, middle, r = ImageDraw.Draw(fine), _FINE * (half + 0.5), _FINE * radius
    for line, fill in ((0.95 * r, f"{INK}d0"), (0.45 * r, colour)):  # the dark edge, then the marker on it
        if kept:
            outer = r + line / 2
            box = (middle - outer, middle - outer, middle + outer, middle + outer)
            draw.ellipse(box, fill=fill if dot else None, outline=fill, width=round(line))
        else:
            a = r * 0.85 + line * 0.2
            for sign in (-1, 1):
                ends = (middle - a, middle - sign * a, middle + a, middle + sign * a)
                draw.line(ends, fill=fill, width=round(line * 1.1))
    return fine.resize((2 * half + 1,) * 2, Image.Resampling.BOX)


def draw_anchors(
    picture: Image.Image,
    uv_px: FloatArray,
    rejected: BoolArray,
    zoom: float = 1.0,
    reason: TextArray | None = None,
) -> None:
    """Draws kept anchors as white rings (dots if there are thousands) and rejected ones as crosses on top of them.

    Args:
        picture: modified; shows the image at `zoom`.
        uv_px: (K, 2) in pixels of the unscaled image; those outside are not drawn.
        rejected: (K,).
        zoom: size of the picture over that of the image.
        reason: (K,) of each verdict, which gives crosses their colour; without it they are red.
    """
    width, height = picture.size
    drawn = np.flatnonzero(in_image(uv_px, (width / zoom, height / zoom)))
    many = drawn.size > _MANY
    # About a twentieth of the distance between neighbours: rings that touch hide the picture.
    radius = float(np.clip(0.1 * math.sqrt(width * height / max(drawn.size, 1)), 1.0, max(2.0, min(8.0, height / 50))))
    words = reason if reason is not None else np.full(rejected.size, "nearer")
    made: dict[tuple[bool, str], Image.Image] = {}
    for k in drawn[np.argsort(rejected[drawn], kind="stable")]:
        kept, colour = not rejected[k], verdict_colour(not rejected[k], str(words[k]))
        if (kept, colour) not in made:
            made[kept, colour] = marker(radius if kept else max(radius, 3.0), colour, kept, many)
        sprite = made[kept, colour]
        corner = np.floor((uv_px[k] + 0.5) * zoom - sprite.width / 2 + 0.5)
        picture.paste(sprite, (int(corner[0]), int(corner[1])), sprite)


def metric_ticks(limits: tuple[float, float]) -> list[tuple[float, str]]:
    """Round values between `limits` with their labels: 1, 2, 5, 10 ..., or even steps where these are too few."""
    low, high = limits
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [m * 10.0**e for e in powers for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    if len(values) >= 3:
        return [(value, f"{value:.6g}") for value in values]
    power = 10.0 ** math.floor(math.log10(high - low))
    step = next(step for step in (power, power / 2, power / 5, power / 10) if high // step - low // step >= 3)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(n * step, f"{n * step:.{decimals}f}") for n in range(first, last + 1)]


def depth_bar(limits: tuple[float, float], size: tuple[int, int], stops: tuple[str, ...] = DEPTH_STOPS) -> Image.Image:
    """A horizontal bar of the colours of metres, `size` (width, height), the least on the left."""
    depth_m = np.geomspace(*limits, num=size[0])
    return Image.fromarray(np.repeat(depth_colours(depth_m[None], limits, stops), size[1], axis=0))


def draw_scale(
    page: Image.Image, box: tuple[int, int, int, int], limits: tuple[float, float], stops: tuple[str, ...], size: float
) -> None:
    """Draws a colour bar with labelled ticks below it, metres.

    Args:
        page: modified.
        box: (x, y, width, height) of the bar; the labels, of font size `size`, lie within its width.
        limits: the metres of its first and last colour.
        stops: its colours.
        size: of the labels, pixels; they take twice that below the bar.
    """
    x, y, width, height = box
    page.paste(depth_bar(limits, (width, height), stops), (x, y))
    draw, low, high = ImageDraw.Draw(page), math.log(limits[0]), math.log(limits[1])
    ticks = metric_ticks(limits)
    ticks[-1] = (ticks[-1][0], f"{ticks[-1][1]} m")
    taken: list[tuple[float, float]] = []
    for value, label in (ticks[-1], *ticks[:-1]):  # the one with the unit is never left out
        at = x + (width - 1) * (math.log(value) - low) / (high - low)
        length = draw.textlength(label, font=font(size))
        left = min(max(at - length / 2, x), x + width - length)
        if any(left < end + size / 2 and start - size / 2 < left + length for start, end in taken):
            continue
        taken.append((left, left + length))
        draw.line((at, y + height, at, y + height + size * 0.3), fill=INK, width=max(1, round(size / 14)))
        draw.text((left, y + height + size * 0.45), label, fill=INK, font=font(size))
