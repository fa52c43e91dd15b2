"""Inputs of the learned heads' networks, in numpy: the same numbers as `lab.train.heads.residual_network` in torch."""

import math
from typing import Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.relative import RANGE_QUANTILES
from mrac.space import POWERS, Space, from_space
from mrac.types import FitResult, Samples

Form = Literal["metres", "scale_free"]
"""Units of the anchor channel and of the network's corrections.

`metres` is the paper's: the anchor channel is z in metres, Δa and Δb are in units of y. `scale_free` is ours: the
channel is log(z / fitted depth), the quantity to correct, whereas from metres the network must first recover the fit;
and Δ is in shares of the scene's depth, so a scene and a model of it in half the size get the same correction.
"""

# Size at which the heads are trained and run: corrections of a fit are smooth, and at 480 × 640 the network costs four
# times as much to train and to run. Depth is composed at the size of the image.
NUM_PIXELS: Final = 240 * 320
RATIO_LIMIT: Final = 3.0  # e³ = 20 times off the fit: beyond it an anchor is an outlier, however far
SIGMA_FLOOR: Final = 0.01  # of log depth, added to the network's variance: about what a good range sensor has


class Normalisation(NamedTuple):
    """Affine normalisation of a relative field: its 2nd percentile becomes 0, its 98th 1.

    The percentiles are order statistics of all pixels, without interpolation: those the networks were trained with, bit
    for bit. `relative.typical_range` takes the same two, interpolated, of a sample of the pixels: faster, and enough
    where no network depends on them.

    Attributes:
        low: the 2nd percentile.
        span: the 98th less the 2nd; 1 where they do not differ beyond rounding.
    """

    low: float
    span: float

    @classmethod
    def of(cls, relative: FloatArray) -> Self:
        """Of a finite (H, W) field; in `lab.train.heads.residual_network`, `normalise_relative` gives the reasons."""
        num = relative.size
        places = [round(q * (num - 1)) for q in RANGE_QUANTILES]
        low, high = (float(end) for end in np.partition(relative, places, axis=None)[places])
        # The field has single precision: a range seven digits below its values is rounding.
        varies = high - low > 1e-6 * max(abs(low), abs(high))
        return cls(low, high - low if varies else 1.0)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Normalised values, float64, of relative values of any shape."""
        return (x.astype(np.float64) - self.low) / self.span


class RenderedAnchors(NamedTuple):
    """Anchors on a pixel grid, at most one per pixel.

    Attributes:
        pixel: (N,) index into the flattened grid, no two equal.
        z_m: (N,) metres.
    """

    pixel: NDArray[np.intp]
    z_m: FloatArray


def render(samples: Samples, shape: tuple[int, int], grid: tuple[int, int]) -> RenderedAnchors:
    """Puts each inlier into the pixel it lies in, of a `grid` (h, w) over an image of `shape` (H, W).

    Several in one pixel become one: the mean of their log depth, by the gate's weight. Outliers are left out: the
    network's mask is 0 or 1 and has no place for a weight.
    """
    seen = samples.inliers
    cells = [np.floor((seen.uv_px[:, i] + 0.5) * (grid[1 - i] / shape[1 - i])) for i in (0, 1)]
    u, v = (np.clip(cell, 0, side - 1).astype(np.intp) for cell, side in zip(cells, grid[::-1], strict=True))
    pixel, place = np.unique(v * grid[1] + u, return_inverse=True)
    total = np.bincount(place, seen.weight * np.log(seen.z_m))
    return RenderedAnchors(pixel, np.exp(total / np.bincount(place, seen.weight)))


def anchor_values(fit: FitResult, space: Space, x: FloatArray, z_m: FloatArray, form: Form) -> FloatArray:
    """(N,) values of the anchor channel at N anchors with relative values `x` (N,); see `Form`."""
    if form == "metres":
        return z_m
    ratio = np.log(z_m) - np.log(from_space(fit(x.astype(np.float64)), space))
    return np.asarray(np.clip(ratio, -RATIO_LIMIT, RATIO_LIMIT))


def correction_unit(z_m: FloatArray, space: Space, form: Form) -> float:
    """The unit of Δ, in units of y, with anchors at (N,) metres; as in `lab.train.heads.residual_network`."""
    power = POWERS[space] if form == "scale_free" else 0.0
    return math.exp(power * float(np.log(z_m).mean()))


def working_size(shape: tuple[int, int], num_pixels: int) -> tuple[int, int]:
    """The (h, w) of the network's inputs for an image of `shape` (H, W): its own, or of its aspect and `num_pixels`."""
    H, W = shape
    if num_pixels >= H * W:
        return shape
    share = math.sqrt(num_pixels / (H * W))
    h = min(max(round(H * share), 1), num_pixels)
    return h, max(min(round(W * share), num_pixels // h), 1)
