"""What a second camera would see, made from one image and its depth, and how two real cameras differ.

Depth alone is not enough to fail as real matching does: the second view must lack what the first camera does not see,
and whatever is not surface (noise, lens, lamp, mirror images) must not move with the surface.
"""

import io
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from mrac.conventions import BoolArray, FloatArray
from mrac.runtime.jit import kernel

_Floats = NDArray[np.float32]
_JUMP: Final = np.float32(1.0)  # pixels of disparity between neighbours from which they are different surfaces


class View(NamedTuple):
    """Where the second view's pixels come from.

    Attributes:
        source: (H, W) float32 column of the first image that is seen there, same row.
        hidden: (H, W) True where the first camera does not see it; `source` then is some place of the background.
    """

    source: _Floats
    hidden: BoolArray

    def of(self, image: FloatArray) -> _Floats:
        """The second view of the (H, W) first one, linear between columns."""
        before = np.clip(np.floor(self.source).astype(np.intp), 0, image.shape[1] - 2)
        share = self.source - before
        left, right = (np.take_along_axis(np.asarray(image, np.float32), before + i, axis=1) for i in (0, 1))
        return np.asarray((1.0 - share) * left + share * right, np.float32)


def second_view(disparity_px: FloatArray, stretch: float = 1.0) -> View:
    """Forward warp to the camera on the right, the nearest surface in front.

    Args:
        disparity_px: (H, W) of the first view, greater than zero: focal length times baseline over depth.
        stretch: how many pixels of the background, mirrored at its edge, go to one that only the second camera sees.
    """
    disparity = np.ascontiguousarray(disparity_px, np.float32)
    seen = _seen_from_right(disparity)
    hidden = np.asarray(seen < 0.0)
    return View(_sources(seen, np.float32(stretch)), hidden)


@kernel
def _seen_from_right(disparity: _Floats) -> _Floats:
    """(H, W) the disparity at each pixel of the right view, -1 where no surface of the left one lies.

    Surfaces are drawn as lines between neighbours of a row, so that their disparity is right between pixels too.
    """
    H, W = disparity.shape
    out = np.full((H, W), np.float32(-1.0), np.float32)
    for v in range(H):
        alone = True  # to the left
        for u in range(W):
            d = disparity[v, u]
            x = u - d
            first, last = (x - np.float32(0.5) if alone else x), x
            slope = np.float32(0.0)
            alone = u + 1 >= W or abs(disparity[v, u + 1] - d) > _JUMP
            if alone:
                last = x + np.float32(0.5)
            else:
                d2 = disparity[v, u + 1]
                last = u + np.float32(1.0) - d2
                # Two that fall onto one place are seen edge on: the line has no length.
                slope = (d2 - d) / (last - x) if last - x > np.float32(1e-3) else np.float32(0.0)
            for r in range(max(0, int(np.ceil(first))), min(W - 1, int(np.floor(last))) + 1):
                value = d + slope * max(r - x, np.float32(0.0)) if slope != 0.0 else d
                out[v, r] = max(out[v, r], value)
    return out


@kernel
def _sources(seen: _Floats, stretch: np.float32) -> _Floats:
    """(H, W) columns of the left view; where nothing is `seen`, the farther neighbour's surface, mirrored."""
    H, W = seen.shape
    out = np.zeros((H, W), np.float32)
    for v in range(H):
        r = 0
        while r < W:
            if seen[v, r] >= 0.0:
                out[v, r] = r + seen[v, r]
                r += 1
                continue
            stop = r
            while stop < W and seen[v, stop] < 0.0:
                stop += 1
            before = seen[v, r - 1] if r > 0 else np.float32(np.inf)
            after = seen[v, stop] if stop < W else np.float32(np.inf)
            for i in range(r, stop):
                if after <= before and stop < W:
                    out[v, i] = stop + after + stretch * (stop - i)
                elif r > 0:
                    out[v, i] = r - 1 + before - stretch * (i - r + 1)
            r = stop
        for i in range(W):
            out[v, i] = min(max(out[v, i], np.float32(0.0)), np.float32(W - 1))
    return out


def disturbed_pair(grey: FloatArray, disparity_px: FloatArray, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
    """Both views as two real cameras deliver them.

    Args:
        grey: (H, W) of the first, in [0, 255].
        disparity_px: (H, W), greater than zero.
        rng: of all that differs.

    Returns:
        (H, W) each, in [0, 255].
    """
    view = second_view(disparity_px, rng.uniform(0.6, 1.6))
    # The picture's own noise would move with the surface, and give away what has no texture.
    clean = _without_noise(np.asarray(grey, np.float32), rng.uniform(1.5, 4.0))
    mirrored, gloss = _reflections(clean, rng)
    apart = float(np.median(disparity_px)) * rng.uniform(0.1, 0.9) * rng.choice([-1.0, 1.0], p=[0.2, 0.8])
    left = clean + gloss * (mirrored - clean)
    elsewhere = ndimage.shift(mirrored, (0.0, -apart), order=1, mode="nearest")
    surface = view.of(clean)
    right = surface + view.of(gloss) * (elsewhere - surface)
    strange = _smooth(grey.shape, rng.uniform(1.0, 4.0), rng)
    right += np.where(view.hidden, rng.uniform(4.0, 16.0) * strange, np.float32(0.0))
    right = _misaligned(right, rng)
    right = _other_lamp(right, rng)
    noise, quality = np.exp(rng.uniform(np.log(0.8), np.log(3.5))), int(rng.integers(70, 96))
    soft = rng.uniform(0.0, 0.8)
    left, right = (left, _blurred(right, soft)) if rng.random() < 0.5 else (_blurred(left, soft), right)
    return _recorded(left, noise, quality, rng), _recorded(right, noise, quality, rng)


def _smooth(shape: tuple[int, ...], size_px: float, rng: np.random.Generator) -> _Floats:
    """Noise of mean 0 and deviation 1 whose blobs are about so large."""
    step = max(1, int(size_px / 2.0))
    coarse = rng.normal(size=tuple(n // step + 3 for n in shape))
    coarse = ndimage.gaussian_filter(coarse, size_px / step)
    fine = ndimage.zoom(coarse, step, order=1)[tuple(slice(0, n) for n in shape)]
    return np.asarray((fine - fine.mean()) / (fine.std() + 1e-9), np.float32)


def _blurred(image: _Floats, sigma_px: float) -> _Floats:
    return np.asarray(ndimage.gaussian_filter(image, sigma_px) if sigma_px > 0.2 else image, np.float32)


def _without_noise(grey: _Floats, level: float) -> _Floats:
    """Takes out detail that is fainter than `level` grey levels."""
    base = ndimage.gaussian_filter(grey, 1.5)
    detail = grey - base
    strength = ndimage.gaussian_filter(detail**2, 1.0)
    return np.asarray(base + detail * (strength / (strength + level**2)), np.float32)


def _reflections(clean: _Floats, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
    """What glossy surfaces mirror, (H, W), and how strongly, [0, 1]: the picture upside down, and lamps."""
    H, W = clean.shape
    mirrored = np.roll(ndimage.gaussian_filter(clean[::-1], rng.uniform(0.5, 3.0)), int(rng.integers(W)), axis=1)
    v, u = np.mgrid[0:H, 0:W].astype(np.float32)
    for _ in range(int(rng.integers(0, 6))):
        radius = rng.uniform(0.01, 0.06) * min(H, W)
        apart = (u - rng.uniform(0, W)) ** 2 + ((v - rng.uniform(0, H)) / rng.uniform(0.5, 2.0)) ** 2
        mirrored = mirrored + rng.uniform(60.0, 255.0) * np.exp(-apart / (2.0 * radius**2))
    where = _smooth(clean.shape, rng.uniform(0.04, 0.15) * min(H, W), rng)
    gloss = np.clip(where - rng.uniform(0.6, 2.2), 0.0, 1.0) * rng.uniform(0.2, 0.8)
    return np.asarray(mirrored, np.float32), np.asarray(gloss, np.float32)


def _misaligned(image: _Floats, rng: np.random.Generator) -> _Floats:
    """Rows that do not quite meet, by a shift and a turn of the camera, and columns by a tenth of a pixel."""
    H, W = image.shape
    v, u = np.mgrid[0:H, 0:W].astype(np.float32)
    down = rng.uniform(-0.4, 0.4) + rng.uniform(-0.2, 0.2) * (2.0 * u / W - 1.0) + rng.uniform(-0.1, 0.1) * (v / H)
    aside = rng.normal(0.0, 0.1)
    return np.asarray(ndimage.map_coordinates(image, [v + down, u + aside], order=1, mode="nearest"), np.float32)


def _other_lamp(image: _Floats, rng: np.random.Generator) -> _Floats:
    """Gain, gamma, offset, and a brightness that differs smoothly over the picture, as lenses and haze make it."""
    share = np.clip(image / 255.0, 1e-3, 1.5) ** np.exp(rng.normal(0.0, 0.05))
    uneven = 1.0 + rng.uniform(0.0, 0.06) * _smooth(image.shape, 0.3 * min(image.shape), rng)
    gain, offset = np.exp(rng.normal(0.0, 0.05)), rng.normal(0.0, 3.0)
    return np.asarray(255.0 * gain * share * uneven + offset, np.float32)


def _recorded(image: _Floats, noise: float, quality: int, rng: np.random.Generator) -> _Floats:
    """With the sensor's noise, more of it where there is more light, cut to 8 bits and stored as JPEG."""
    spread = noise * np.sqrt(0.4 + 0.6 * np.clip(image, 0.0, 255.0) / 128.0)
    noisy = image + spread * rng.standard_normal(image.shape, np.float32)
    file = io.BytesIO()
    Image.fromarray(np.clip(np.round(noisy), 0.0, 255.0).astype(np.uint8)).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file), np.float32)
