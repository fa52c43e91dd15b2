"""Draws training readings for the gate: inliers, and outliers of many simulated kinds or of a real lidar.

Besides the benchmark's families: stereo, matched (a second view is made, and matched with the first) or invented (noise
in disparity, so that errors grow with the square of distance, patches matched wrongly as a whole, foregrounds that
grow), readings that see past an edge, and factors at random.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac import registry
from mrac.conventions import BoolArray, FloatArray
from mrac.lab.train.gate.frames import GateFrame
from mrac.outliers import Outliers, Truth

WRONG: Final = 0.1  # relative error from which a reading is wrong
_FROM_BENCHMARK: Final = ("near", "dropout", "uniform", "mixed_pixel")
# How often each is drawn; a frame that has a scan is read with it every fourth time.
FAMILIES: Final = {
    "clean": 0.20,
    "near": 0.16,
    "dropout": 0.10,
    "uniform": 0.17,
    "mixed_pixel": 0.12,
    "factor": 0.07,
    "stereo": 0.06,
    "matched": 0.13,
    "past_edge": 0.11,
}
SCAN_SHARE: Final = 0.25
AS_THEY_COME: Final = ("scan", "matched", "stereo")


class DrawnReadings(NamedTuple):
    """K readings of one frame: flat pixel indices, metres, and the truth there."""

    pixels: NDArray[np.intp]
    z_m: FloatArray
    truth_m: FloatArray

    @property
    def wrong(self) -> BoolArray:
        """(K,)."""
        return np.asarray(np.abs(self.z_m / self.truth_m - 1.0) > WRONG)

    def quantised(self, rng: np.random.Generator) -> "DrawnReadings":
        """As a sensor with steps of one to eight per cent of its median reading gives them; none becomes wrong."""
        step = float(np.median(self.z_m)) * rng.uniform(0.01, 0.08) if self.z_m.size else 1.0
        rounded = np.maximum(np.round(self.z_m / step), 1.0) * step
        fine = self.wrong | (np.abs(rounded / self.truth_m - 1.0) <= WRONG)
        return self._replace(z_m=np.where(fine, rounded, self.z_m))


def draw(frame: GateFrame, family: str, share: float, num: int, rng: np.random.Generator) -> DrawnReadings:
    """`num` readings at different pixels, fewer where there are not so many, about `share` of them wrong.

    Of a family in `AS_THEY_COME` a share below zero is that of the sensor itself.
    """
    pixels, z_m = _OWN[family](frame, share, num, rng) if family in _OWN else _injected(frame, family, share, num, rng)
    pixels, first = np.unique(pixels, return_index=True)
    return DrawnReadings(pixels, z_m[first], frame.z_m.ravel()[pixels])


_PixelsAndMetres = tuple[NDArray[np.intp], FloatArray]


def _some(frame: GateFrame, num: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(frame.pixels, min(num, frame.pixels.size), replace=False)


def _injected(frame: GateFrame, family: str, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    """A family of the benchmark; `clean` is any of them with nothing wrong."""
    pixels = _some(frame, num, rng)
    z_m = frame.z_m.ravel()[pixels]
    if family not in _FROM_BENCHMARK:
        return pixels, z_m
    outliers: Outliers = registry.create("outlier", family)
    seen = np.where(frame.z_m > 0.0, frame.z_m, np.nan)
    truth = Truth(uv_px=frame.uv_px(pixels), z_m=z_m, truth_m=seen, max_range_m=frame.max_range_m)
    return pixels, outliers(truth, share, rng).z_m


def _factor(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    """Too near or too far by a moderate factor, or too far by any."""
    pixels = _some(frame, num, rng)
    off = rng.choice([-1.0, 1.0], pixels.size) * rng.uniform(0.12, 0.45, pixels.size)
    if rng.random() < 0.5:
        off = rng.uniform(0.14, 1.4, pixels.size)
    wrong = rng.permutation(pixels.size) < round(share * pixels.size)
    return pixels, frame.z_m.ravel()[pixels] * np.exp(np.where(wrong, off, 0.0))


def _patch(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    """Neighbours that are all wrong by one factor, more often too near: multipath in a corner, a shiny floor."""
    pixels = _some(frame, num, rng)
    v, u = np.unravel_index(pixels, frame.z_m.shape)
    middle = int(rng.integers(pixels.size))
    apart = ((u - u[middle]) / rng.uniform(0.5, 2.0)) ** 2 + (v - v[middle]) ** 2
    wrong = np.argsort(apart, kind="stable")[: round(share * pixels.size)]
    z_m = frame.z_m.ravel()[pixels]
    by = rng.uniform(0.3, 0.75) if rng.random() < 0.7 else rng.uniform(1.3, 2.5)
    z_m[wrong] *= by * np.exp(0.02 * rng.normal(size=wrong.size))
    return pixels, z_m


def _past_edge(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    """What lies behind, at places along a few edges; the others with a hundredth of noise."""
    pixels = _some(frame, num, rng)
    behind = frame.farthest_around(int(rng.integers(3, 13))).ravel()
    truth = frame.z_m.ravel()
    past = frame.pixels[behind[frame.pixels] > 1.15 * truth[frame.pixels]]
    num_wrong = round(share * pixels.size)
    if past.size < num_wrong or not past.size:
        return pixels, truth[pixels]
    (v, u), W = np.unravel_index(past, frame.z_m.shape), frame.z_m.shape[1]
    seeds = past[rng.integers(past.size, size=int(rng.integers(1, 7)))]
    apart = np.min([((u - seed % W) / 2.0) ** 2 + (v - seed // W) ** 2 for seed in seeds], axis=0)
    near = past[np.argsort(apart, kind="stable")[: max(num_wrong, int(past.size * rng.uniform(0.03, 0.5)))]]
    pixels[:num_wrong] = rng.choice(near, num_wrong, replace=False)
    z_m = truth[pixels] * np.exp(0.01 * rng.normal(size=pixels.size))
    z_m[:num_wrong] = behind[pixels[:num_wrong]] * np.exp(0.02 * rng.normal(size=num_wrong))
    return pixels, z_m


def _stereo(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    pixels = _some(frame, max(1500, 6 * num), rng)
    truth = frame.z_m.ravel()[pixels]
    far = float(np.quantile(truth, 0.95)) * rng.uniform(4.0, 20.0)  # metres × pixels: as many pixels at the far end
    most = 1.3 * far / truth.min()
    noise = rng.uniform(0.15, 0.6) * rng.normal(size=pixels.size)
    nearest = frame.nearest_around(int(rng.integers(3, 9))).ravel()[pixels]
    grown = rng.random(pixels.size) < rng.uniform(0.1, 0.6)
    disparity = far / np.where(grown, nearest, truth) + noise
    v, u = np.unravel_index(pixels, frame.z_m.shape)
    for _ in range(int(rng.integers(2, 9))):
        middle, radius = int(rng.integers(pixels.size)), rng.uniform(0.02, 0.12) * min(frame.z_m.shape)
        patch = ((u - u[middle]) / rng.uniform(0.5, 3.0)) ** 2 + (v - v[middle]) ** 2 < radius**2
        mistaken = (rng.uniform(0.5, most) + noise, disparity + rng.normal(0.0, 4.0), rng.uniform(0.5, most, u.size))
        disparity = np.where(patch, mistaken[int(rng.integers(3))], disparity)
    lost = rng.random(pixels.size) < rng.uniform(0.0, 0.06)
    disparity = np.where(lost, rng.uniform(0.5, most, pixels.size), disparity)
    z_m = np.clip(far / np.maximum(disparity, 0.3), 0.05, 1.2 * frame.max_range_m)
    return _enriched(pixels, z_m, truth, share, num, rng)


def _scan(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    assert frame.scan_m is not None
    return _sensed(frame, frame.scan_m, frame.max_range_m, share, num, rng)


def _matched(frame: GateFrame, share: float, num: int, rng: np.random.Generator) -> _PixelsAndMetres:
    return _sensed(frame, frame.stereo_m[int(rng.integers(len(frame.stereo_m)))], np.inf, share, num, rng)


def _sensed(
    frame: GateFrame, z_m: FloatArray, most_m: float, share: float, num: int, rng: np.random.Generator
) -> _PixelsAndMetres:
    """Of a sensor's readings (H, W), 0 where it has none."""
    readings = z_m.ravel()[frame.pixels]
    heard = (readings > 0.0) & (readings <= most_m)
    pixels = frame.pixels[heard]
    return _enriched(pixels, readings[heard], frame.z_m.ravel()[pixels], share, num, rng)


def _enriched(
    pixels: NDArray[np.intp], z_m: FloatArray, truth: FloatArray, share: float, num: int, rng: np.random.Generator
) -> _PixelsAndMetres:
    """Of many readings `num`, so that `share` of them is wrong, as far as there are so many; as they come if < 0."""
    if share < 0.0:
        index = rng.choice(pixels.size, min(num, pixels.size), replace=False)
        return pixels[index], z_m[index]
    wrong = np.abs(z_m / truth - 1.0) > WRONG
    bad, good = np.flatnonzero(wrong), np.flatnonzero(~wrong)
    num_bad = min(round(share * num), bad.size)
    chosen = (rng.choice(bad, num_bad, replace=False), rng.choice(good, min(num - num_bad, good.size), replace=False))
    index = np.concatenate(chosen)
    return pixels[index], z_m[index]


_OWN: Final[dict[str, Callable[[GateFrame, float, int, np.random.Generator], _PixelsAndMetres]]] = {
    "factor": _factor,
    "past_edge": _past_edge,
    "patch": _patch,
    "stereo": _stereo,
    "matched": _matched,
    "scan": _scan,
}
