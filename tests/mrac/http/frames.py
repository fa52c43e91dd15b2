"""A small frame and its parts as a client sends them."""

import io
import json
from typing import Any

import numpy as np
from PIL import Image

from mrac import Anchors
from mrac.conventions import ImageArray
from mrac.http import Submission, Upload

H, W = 30, 40
_rng = np.random.default_rng(0)
IMAGE: ImageArray = _rng.integers(0, 255, (H, W, 3), np.uint8)
ROWS: list[list[float]] = [
    [float(u), float(v), float(1.0 + 0.1 * u)]
    for u, v in zip(_rng.permutation(W)[:12], _rng.integers(0, H, 12), strict=True)
]
ANCHORS = Anchors([row[:2] for row in ROWS], [row[2] for row in ROWS])


def png(image: Any = IMAGE, kind: str = "PNG") -> bytes:
    content = io.BytesIO()
    Image.fromarray(image).save(content, kind)
    return content.getvalue()


def csv(rows: list[list[float]] = ROWS) -> bytes:
    return "\n".join(["u,v,z", *(",".join(map(repr, row)) for row in rows)]).encode()


def npz(**arrays: Any) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def submission(anchors: bytes | None = None, name: str = "", image: bytes | None = None, **fields: str) -> Submission:
    content = json.dumps(ROWS).encode() if anchors is None else anchors
    files = {"image": Upload("a.png", png() if image is None else image), "anchors": Upload(name, content)}
    return Submission(files, fields)
