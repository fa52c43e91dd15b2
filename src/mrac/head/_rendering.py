"""What a learned head's network is told of a scene: in numpy the numbers that `train.residual_network` has in torch."""

import math
from typing import Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.space import Space, from_space
from mrac.types import FitResult, Samples

Form = Literal["metres", "scale_free"]
"""How anchors enter and what a correction is worth.

`metres` is the paper's: the anchor channel is z in metres, Δa and Δb are in units of y. `scale_free` is ours: the
channel is log(z / fitted depth), which is what there is to correct, where from metres the network must first work out
the fit again; and Δ counts in shares of the scene's depth, so a scene and its model in half the size get one answer.
"""

# At which the heads are trained and run: corrections of a fit are smooth, and at 480 × 640 the network costs four times
# as much to train and to run. Depth is composed at the size of the image.
NUM_PIXELS: Final = 240 * 320
QUANTILES: Final = (0.02, 0.98)  # of the relative field, which become 0 and 1
RATIO_LIMIT: Final = 3.0  # e³ = 20 times off the fit: all that a larger value could still say is "wrong"
SIGMA_FLOOR: Final = 0.01  # of log depth, added to the network's variance: about what a good range sensor has
# y per log depth at the anchors' mean, as a power of that mean: what Δ = 1 is worth in the form `scale_free`.
UNIT_POWER: Final[dict[Space, float]] = {"depth": 1.0, "inverse_depth": -1.0, "log_depth": 0.0}


class Normal(NamedTuple):
    """The map from a relative field to one with its 2nd percentile at 0 and its 98th at 1."""

    low: float
    span: float

    @classmethod
    def of(cls, relative: FloatArray) -> Self:
        """As `train.residual_network.normalise_relative` has it, which says why; of an (H, W) finite field."""
        num = relative.size
        places = [round(q * (num - 1)) for q in QUANTILES]
        low, high = (float(end) for end in np.partition(relative, places, axis=None)[places])
        # The field has single precision: a range seven digits below its values is rounding.
        told = high - low > 1e-6 * max(abs(low), abs(high))
        return cls(low, high - low if told else 1.0)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Any shape, float64."""
        return (x.astype(np.float64) - self.low) / self.span


class Marks(NamedTuple):
    """Anchors on a pixel grid.

    Attributes:
        pixel: (N,) row and column in one number, each once.
        z_m: (N,) metres.
    """

    pixel: NDArray[np.intp]
    z_m: FloatArray


def render(samples: Samples, shape: tuple[int, int], grid: tuple[int, int]) -> Marks:
    """Puts each anchor into the pixel it lies in, of a `grid` (h, w) over an image of `shape` (H, W).

    Several in one pixel become one: the mean of their log depth, weighted with the gate's trust. One that is taken
    for wrong is not seen.
    """
    seen = samples.trusted  # a network cannot half believe
    cells = [np.floor((seen.uv_px[:, i] + 0.5) * (grid[1 - i] / shape[1 - i])) for i in (0, 1)]
    u, v = (np.clip(cell, 0, side - 1).astype(np.intp) for cell, side in zip(cells, grid[::-1], strict=True))
    pixel, place = np.unique(v * grid[1] + u, return_inverse=True)
    total = np.bincount(place, seen.weight * np.log(seen.z_m))
    return Marks(pixel, np.exp(total / np.bincount(place, seen.weight)))


def anchor_values(fit: FitResult, space: Space, x: FloatArray, z_m: FloatArray, form: Form) -> FloatArray:
    """(N,) what the network is told at N anchors with relative values `x` (N,); see `Form`."""
    if form == "metres":
        return z_m
    ratio = np.log(z_m) - np.log(from_space(fit(x.astype(np.float64)), space))
    return np.asarray(np.clip(ratio, -RATIO_LIMIT, RATIO_LIMIT))


def correction_unit(z_m: FloatArray, space: Space, form: Form) -> float:
    """What Δ = 1 is worth in y, with anchors at (N,) metres; as in `train.residual_network`."""
    power = UNIT_POWER[space] if form == "scale_free" else 0.0
    return math.exp(power * float(np.log(z_m).mean()))


def working_size(shape: tuple[int, int], num_pixels: int) -> tuple[int, int]:
    """The (h, w) at which the network sees an image of `shape` (H, W): its own, or of its aspect and `num_pixels`."""
    H, W = shape
    if num_pixels >= H * W:
        return shape
    share = math.sqrt(num_pixels / (H * W))
    h = min(max(round(H * share), 1), num_pixels)
    return h, max(min(round(W * share), num_pixels // h), 1)
