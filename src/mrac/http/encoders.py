"""Results as answers: JSON with base64 maps, a 16-bit depth PNG, or an NPZ."""

import base64
import io
import json
import math
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.files import save_arrays, save_depth_png
from mrac.result import MetricDepth
from mrac.result.folder import report_of
from mrac.version import __version__

FORMATS: Final = {"json": "application/json", "png": "image/png", "npz": "application/x-npz"}
"""Media types by their short name."""
MAPS: Final = ("depth", "sigma")


def chosen_format(field: str | None, accept: str | None) -> str:
    """The format of the answer: the field `format`, else the first of the header Accept that is known, else JSON.

    Raises:
        ContractError: the field names none, or the header allows none.
    """
    by_type = {media: name for name, media in FORMATS.items()}
    if field:
        name = by_type.get(field, field)
        if name not in FORMATS:
            raise ContractError(f"format: {field[:40]!r} arrived; one of {', '.join(FORMATS)} is needed")
        return name
    wanted = [_wish(part) for part in (accept or "*/*").split(",")]
    for media, quality in sorted(wanted, key=lambda wish: -wish[1]):
        if quality > 0.0 and media in by_type:
            return by_type[media]
        if quality > 0.0 and media in ("*/*", "application/*", ""):
            return "json"
        if quality > 0.0 and media == "image/*":
            return "png"
    raise ContractError(f"Accept: {accept!r:.80} arrived; one of {', '.join(FORMATS.values())} is needed")


def chosen_maps(field: str) -> list[str]:
    """The maps of a JSON answer: the field `maps`, names separated by commas or `none`; both where it is empty.

    Raises:
        ContractError: it names another map.
    """
    wanted = [] if field == "none" else [part.strip() for part in field.split(",")] if field else list(MAPS)
    if not set(wanted) <= set(MAPS):
        raise ContractError(f"maps: {field[:40]!r} arrived; depth, sigma, both with a comma, or none is needed")
    return wanted


def _wish(part: str) -> tuple[str, float]:
    media, *parameters = (word.strip().lower() for word in part.split(";"))
    quality = next((word[2:] for word in parameters if word.startswith("q=")), "1")
    try:
        return media, float(quality)
    except ValueError:
        return media, 0.0


def encoded(name: str, result: MetricDepth, anchors: Anchors, request_id: str, maps: str = "") -> bytes:
    """The body of an answer.

    Args:
        name: of `FORMATS`.
        result: what to send.
        anchors: the readings as they were used.
        request_id: for JSON, in which it stands too.
        maps: of JSON: which of `depth` and `sigma`, separated by commas, or `none`; empty: both.
    """
    if name == "png":
        return depth_png(result.depth_m)
    if name == "npz":
        return npz(result)
    return json.dumps(plain(result, anchors, request_id, maps), allow_nan=False).encode()


def depth_png(depth_m: FloatArray) -> bytes:
    """A 16-bit PNG with its scale inside, as `MetricDepth.save` writes it."""
    content = io.BytesIO()
    save_depth_png(content, depth_m)
    return content.getvalue()


def npz(result: MetricDepth) -> bytes:
    """depth_m, sigma_m and the verdicts, as `MetricDepth.save` writes them."""
    content = io.BytesIO()
    save_arrays(content, depth_m=result.depth_m, sigma_m=result.sigma_m, **vars(result.anchors))
    return content.getvalue()


def plain(result: MetricDepth, anchors: Anchors, request_id: str, maps: str = "") -> dict[str, Any]:
    """All of a result as plain values: what `report.json` has, verdicts to the last digit, and the maps as base64.

    Raises:
        ContractError: `maps` names another map.
    """
    wanted = chosen_maps(maps)
    report = report_of(result)
    return {
        "request_id": request_id,
        "version": __version__,
        **report,
        "options": {stage: _without_folders(options) for stage, options in report["options"].items()},
        "anchors": verdicts(result, anchors),
        "size": {"width": result.depth_m.shape[1], "height": result.depth_m.shape[0]},
        **{f"{name}_m": packed(getattr(result, f"{name}_m")) for name in wanted},
    }


def _without_folders(options: dict[str, Any]) -> dict[str, Any]:
    """A network's file by its name alone: where it lies on the server is not for clients."""
    return {
        name: PurePath(value).name if isinstance(value, str) and "/" in value else value
        for name, value in options.items()
    }


def verdicts(result: MetricDepth, anchors: Anchors) -> list[dict[str, Any]]:
    """One object per reading: its position and depth, and the verdict on it; a number that is not finite is null."""
    columns = {"u": anchors.uv_px[:, 0], "v": anchors.uv_px[:, 1], "z_m": anchors.z_m, **vars(result.anchors)}
    lists = [finite(values) if values.dtype.kind == "f" else values.tolist() for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def finite(values: FloatArray) -> list[float | None]:
    """Numbers; None for those that JSON lacks."""
    return [number if math.isfinite(number) else None for number in values.tolist()]


def packed(values: FloatArray) -> dict[str, Any]:
    """An (H, W) map: `np.frombuffer(base64.b64decode(map["base64"]), map["dtype"]).reshape(map["shape"])`."""
    text = base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
    return {"shape": list(values.shape), "dtype": "<f4", "base64": text}
