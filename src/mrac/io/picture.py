"""Pictures of depth: colour maps, anchors drawn on top, and a legend with the scale."""

from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mrac.conventions import BoolArray, FloatArray, ImageArray

# Near is bright and warm, far is dark and cold; errors run from blue to red. Even steps, readable in grey.
_DEPTH_STOPS: Final = ("#fff7c2", "#fdc45f", "#f2815a", "#c9477a", "#7c2c8e", "#33206e", "#0b0c2a")
_ERROR_STOPS: Final = ("#0d1321", "#1d4e6b", "#3fa28c", "#f3d368", "#f28a3b", "#c2203a")
KEPT: Final = "#ffffff"
REJECTED: Final = "#ff3b30"
_INK: Final = "#16181d"
_MAX_PREVIEW: Final = 2048  # pixels


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
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


def depth_colours(depth_m: FloatArray, limits: tuple[float, float]) -> ImageArray:
    """(H, W) metres as (H, W, 3) colours, even in log depth between `limits`; NaN is grey."""
    low, high = np.log(limits)
    with np.errstate(invalid="ignore"):
        coloured = _colours((np.log(depth_m) - low) / (high - low), _DEPTH_STOPS)
    coloured[~np.isfinite(depth_m)] = 96
    return coloured


def error_colours(error: FloatArray, worst: float) -> ImageArray:
    """(H, W) relative errors >= 0 as (H, W, 3) colours, the last one at `worst` and above; NaN is grey."""
    coloured = _colours(error / worst, _ERROR_STOPS)
    coloured[~np.isfinite(error)] = 96
    return coloured


def draw_anchors(picture: Image.Image, uv_px: FloatArray, rejected: BoolArray, zoom: float = 1.0) -> None:
    """Draws kept anchors as white rings and rejected ones as red crosses.

    Args:
        picture: modified; shows the image at `zoom`.
        uv_px: (K, 2) in pixels of the unscaled image; those outside are not drawn.
        rejected: (K,).
        zoom: size of the picture over that of the image.
    """
    draw = ImageDraw.Draw(picture)
    many = len(uv_px) > 2000
    r = max(1.0, min(picture.size) / (400 if many else 90))
    size = np.array(picture.size) / zoom
    inside = np.all((uv_px >= -0.5) & (uv_px < size), axis=1)  # False for NaN too
    order = np.argsort(rejected, kind="stable")  # crosses on top
    for k in order[np.asarray(inside)[order]]:
        u, v = (float(c) for c in (uv_px[k] + 0.5) * zoom)
        if rejected[k]:
            for width, colour in ((r * 1.1, _INK), (r * 0.55, REJECTED)):
                draw.line((u - r, v - r, u + r, v + r), fill=colour, width=max(1, round(width)))
                draw.line((u - r, v + r, u + r, v - r), fill=colour, width=max(1, round(width)))
        elif many:
            draw.point((u, v), fill=KEPT)
        else:
            draw.ellipse((u - r, v - r, u + r, v + r), outline=_INK, width=max(1, round(r * 0.7)))
            draw.ellipse((u - r, v - r, u + r, v + r), outline=KEPT, width=max(1, round(r * 0.45)))


def depth_bar(limits: tuple[float, float], size: tuple[int, int]) -> Image.Image:
    """A horizontal bar of the depth colours, `size` (width, height), near on the left."""
    depth_m = np.geomspace(*limits, num=size[0])
    return Image.fromarray(np.repeat(depth_colours(depth_m[None], limits), size[1], axis=0))


def preview(depth_m: FloatArray, uv_px: FloatArray, keep: BoolArray, caption: str) -> Image.Image:
    """Depth in colours with every anchor drawn on it, and a footer with the scale and the numbers kept and rejected.

    Its longer side has 640 to 2,048 pixels, whatever the image's.

    Args:
        depth_m: (H, W) metres.
        uv_px: (K, 2) pixels.
        keep: (K,) which anchors were used.
        caption: further text of the footer.
    """
    longer = max(depth_m.shape)
    zoom = max(1.0, 640.0 / longer) if longer <= _MAX_PREVIEW else _MAX_PREVIEW / longer
    width, height = (max(1, round(side * zoom)) for side in depth_m.shape[::-1])
    if zoom < 1.0:  # before colouring, which is slow at 50 megapixels
        small = Image.fromarray(depth_m.astype(np.float32, copy=False)).resize((width, height), Image.Resampling.BOX)
        depth_m = np.asarray(small)
    limits = depth_limits(depth_m)
    top = Image.fromarray(depth_colours(depth_m, limits)).resize((width, height), Image.Resampling.BILINEAR)
    draw_anchors(top, uv_px, ~keep, zoom)
    strip = 40
    page = Image.new("RGB", (max(width, 560), height + strip), _INK)
    page.paste(top, (0, 0))
    draw = ImageDraw.Draw(page)
    middle = height + strip // 2
    left = f"{limits[0]:.2f} m"
    draw.text((10, middle), left, fill="white", font=font(14), anchor="lm")
    x = 18 + round(draw.textlength(left, font=font(14)))
    page.paste(depth_bar(limits, (120, 12)), (x, middle - 6))
    draw.text((x + 128, middle), f"{limits[1]:.2f} m", fill="white", font=font(14), anchor="lm")
    counts = f"{int(keep.sum())} kept, {int((~keep).sum())} rejected, {caption}"
    draw.text((page.width - 10, middle), counts, fill="white", font=font(14), anchor="rm")
    return page
