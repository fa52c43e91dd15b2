"""Where in the image the readings were really taken: as stated, swapped, mirrored, turned, or of another size.

Each guess needs a likelihood that exceeds that of the positions as stated by a margin. The margins were chosen on
training images that the network which made the field had never seen (`python -m mrac.lab.studies.mistakes` with an
earlier network): on images that it was trained on, 2 nats would have seemed enough. Where many positions lie outside
the image and a guess brings them in, that is proof by itself, and the network only chooses between such guesses.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from mrac.checks.agreement import log_likelihoods
from mrac.checks.evidence import MIN_READINGS, Evidence
from mrac.conventions import FloatArray

_MARGIN: Final = {  # in nats
    "swapped_uv": 12.0,
    "mirrored": 20.0,
    "flipped": 40.0,
    "rotated_180": 30.0,
    "rotated_90": 30.0,
    "rotated_270": 30.0,
    "image_size": 8.0,  # low, since all readings must fill one corner of the image too
}
_OUTSIDE: Final = 0.08  # share of positions outside the image from which it is a mistake, if a guess explains it
_MISSED: Final = 0.03  # share that may stay outside by that guess
_PROVEN: Final = {name: -1.0 if name in ("swapped_uv", "image_size") else 8.0 for name in _MARGIN}
# By which a guess must exceed a commoner one to be named: a symmetric scene does not tell a flip from a half turn.
_RARER: Final = {"mirrored": 2.0, "flipped": 4.0, "rotated_180": 4.0, "rotated_90": 6.0, "rotated_270": 6.0}
_FILLED: Final = (0.85, 0.55)  # of the other image's size that positions must reach: on one axis, on both
_FACTORS: Final = (1 / 4, 1 / 3, 3 / 8, 1 / 2, 2 / 3, 3 / 4, 4 / 3, 3 / 2, 2.0, 8 / 3, 3.0, 4.0, 6.0, 8.0)
_COMMON: Final = (
    (160, 120), (224, 172), (256, 192), (320, 240), (384, 288), (424, 240), (512, 384), (640, 360), (640, 480),
    (848, 480), (960, 540), (1024, 768), (1280, 720), (1280, 960), (1440, 1080), (1920, 1080), (1920, 1440),
    (2560, 1440), (3840, 2160), (4032, 3024),
)  # fmt: skip


class Placement(NamedTuple):
    """The best guess that is better than the positions as stated.

    Attributes:
        kind: `swapped_uv`, `mirrored`, `flipped`, `rotated_90`, `rotated_180`, `rotated_270` or `image_size`.
        gain: its log likelihood less that of the positions as stated, in nats; 0 without relative depth.
        outside: share of the positions as stated that lie outside the image.
        size: (width, height) of the image that the positions refer to.
    """

    kind: str
    gain: float
    outside: float
    size: tuple[int, int]


def best_placement(evidence: Evidence) -> Placement | None:
    """The guess by which the readings agree best with the image, if it is clearly better than as they are stated."""
    readings = evidence.readings
    if len(readings) < MIN_READINGS or evidence.has_fractions:
        return None
    H, W = evidence.shape
    guesses = [*_turned(readings.uv_px, W, H), *_resized(readings.uv_px, W, H)]
    positions = np.stack([readings.uv_px, *(uv for _, uv, _ in guesses)])
    outside = 1.0 - evidence.inside(positions).mean(axis=1)
    likelihood: FloatArray = np.zeros(len(positions))
    if evidence.field is not None:
        likelihood = log_likelihoods(evidence.field, evidence.space, positions, readings.z_m)
    margin = _PROVEN if outside[0] >= _OUTSIDE else _MARGIN
    best, highest = None, -np.inf
    for (kind, _, size), gain, missed in zip(guesses, likelihood[1:] - likelihood[0], outside[1:], strict=True):
        larger = kind == "image_size" and max(size) > max(W, H)
        if missed > _MISSED or (larger and margin is _MARGIN):
            continue
        if gain - _RARER.get(kind, 0.0) > highest:
            best, highest = Placement(kind, float(gain), float(outside[0]), size), gain - _RARER.get(kind, 0.0)
    return best if best is not None and best.gain > margin[best.kind] else None


def _turned(uv_px: FloatArray, W: int, H: int) -> list[tuple[str, FloatArray, tuple[int, int]]]:
    """Kind, positions in the image, and size of the image that they were stated for."""
    u, v = uv_px.T
    right, low = W - 1.0, H - 1.0
    upright, lying = (W, H), (H, W)
    guesses = (
        ("swapped_uv", v, u, upright),
        ("mirrored", right - u, v, upright),
        ("flipped", u, low - v, upright),
        ("rotated_180", right - u, low - v, upright),
        ("rotated_90", v, low - u, lying),
        ("rotated_270", right - v, u, lying),
    )
    return [(kind, np.stack([a, b], axis=1), size) for kind, a, b, size in guesses]


def _resized(uv_px: FloatArray, W: int, H: int) -> list[tuple[str, FloatArray, tuple[int, int]]]:
    """The same for other sizes of the whole image, whose upper left corner the positions start from and nearly fill."""
    start, (across, down) = uv_px.min(axis=0), np.quantile(uv_px, 0.98, axis=0) + 1.0
    if start.min() < -0.5:
        return []
    guesses = []
    for width, height in _sizes(W, H):
        low, high = sorted((float(across) / width, float(down) / height))
        same_shape = abs(width * H - height * W) < 0.02 * height * W
        if _FILLED[0] < high <= 1.02 and low > (_FILLED[1] if same_shape else _FILLED[0]):
            moved = (uv_px + 0.5) * (W / width, H / height) - 0.5
            guesses.append(("image_size", moved, (width, height)))
    return guesses


@lru_cache
def _sizes(W: int, H: int) -> tuple[tuple[int, int], ...]:
    """Other sizes (width, height) that an image of this size may have had."""
    scaled = [(max(1, round(W * s)), max(1, round(H * s))) for s in _FACTORS]
    return tuple(size for size in dict.fromkeys((*scaled, *_COMMON)) if size != (W, H))
