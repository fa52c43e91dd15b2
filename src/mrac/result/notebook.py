"""What a notebook shows of a result: small pictures inside the page and a table."""

import base64
import io
from collections import Counter
from html import escape

import numpy as np
from PIL import Image

from mrac.conventions import FloatArray
from mrac.io.picture import DEPTH_STOPS, SIGMA_STOPS, depth_colours, depth_limits
from mrac.result.metric_depth import MetricDepth
from mrac.result.preview import preview

_WIDTH, _HEIGHT = 360, 300  # pixels of a picture in the page, at most


def html(result: MetricDepth) -> str:
    """Depth and standard deviation as pictures with their limits, and status, warnings and verdicts in a table."""
    figures = "".join(
        f'<figure style="margin:0"><img alt="{name}" src="{source}"><figcaption>{name}: {low:.3g} to {high:.3g} m, '
        f"{ends}</figcaption></figure>"
        for name, (source, low, high), ends in (
            ("depth", _inline(result.depth_m, DEPTH_STOPS), "near is bright"),
            ("standard deviation", _inline(result.sigma_m, SIGMA_STOPS), "certain is dark"),
        )
    )
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in _rows(result)
    )
    return f'<div><div style="display:flex;gap:16px">{figures}</div><table>{rows}</table></div>'


def png(result: MetricDepth) -> bytes:
    """The preview of depth and standard deviation, as a PNG file."""
    file = io.BytesIO()
    preview(result).save(file, format="PNG")
    return file.getvalue()


def _rows(result: MetricDepth) -> list[tuple[str, str]]:
    keep, reason = result.anchors.keep, result.anchors.reason
    height, width = result.depth_m.shape

    def counted(chosen: list[str]) -> str:
        return ", ".join(f"{num} {word}" for word, num in Counter(chosen).most_common())

    return [
        ("status", result.status),
        *((f"{w.kind}: {w.name}", f"{w.message} {w.advice}") for w in result.warnings),
        ("size", f"{width}×{height}"),
        ("depth", f"{result.depth_m.min():.2f} to {result.depth_m.max():.2f} m"),
        ("kept", f"{keep.sum()} of {keep.size} anchors: {counted(reason[keep].tolist()) or 'none'}"),
        ("rejected", f"{(~keep).sum()}: {counted(reason[~keep].tolist())}" if not keep.all() else "none"),
        *(("stages", ", ".join(f"{k} {v}" for k, v in result.stages.items())) for _ in range(bool(result.stages))),
    ]


def _inline(values_m: FloatArray, stops: tuple[str, ...]) -> tuple[str, float, float]:
    """A picture as a data URL, and the metres of its first and last colour."""
    step = max(1, max(values_m.shape) // 2000)  # a copy of 50 megapixels would be large
    values_m = values_m[::step, ::step]
    limits = depth_limits(values_m)
    picture = Image.fromarray(depth_colours(np.asarray(values_m), limits, stops))
    zoom = min(_WIDTH / picture.width, _HEIGHT / picture.height)
    size = (max(1, round(picture.width * zoom)), max(1, round(picture.height * zoom)))
    file = io.BytesIO()
    picture.resize(size, Image.Resampling.BOX if zoom < 1 else Image.Resampling.NEAREST).save(file, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}", *limits
