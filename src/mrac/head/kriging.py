"""Gaussian-process residual of log depth on top of the fit: exact at the anchors, faithful to the image's edges."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.fit.base import PRIOR_SPREAD
from mrac.gp.appearance import Looks
from mrac.gp.features import Features, Lengths
from mrac.gp.grid import enlarged
from mrac.gp.posterior import PRIOR_VAR, Readings, posterior, predict
from mrac.head._tiles import NUM_NEAREST, predict_tiled
from mrac.head.affine import SIGMA_SHARE
from mrac.head.base import Head, HeadResult, Scene
from mrac.options import check_numbers
from mrac.runtime.parallel import for_each_span
from mrac.space import from_space, log_from_space
from mrac.types import Samples

_ROWS: Final = 32  # of an image, finished at a time
# What the process is a function of changes little from one node to the next of so many along the image's shorter side,
# or of so many from one anchor to the next, whichever are more; the trend is computed at every pixel.
_NODES: Final = 240
_NODES_PER_ANCHOR: Final = 3.0
_BEYOND: Final = 1.15  # pixels reach a little farther than the readings among them
_NARROWEST: Final = 0.7  # in log depth, a factor of two: few readings may lie at one depth


class Field(NamedTuple):
    """A Gaussian process on the image, in log depth, at the nodes of a grid; see `Features`.

    Attributes:
        mean: (rows, columns) float32 posterior mean of the residual of log depth.
        std: (rows, columns) float32 posterior standard deviation.
        step: pixels between nodes.
    """

    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    step: int


@dataclass(frozen=True, kw_only=True)
class Kriging(Head):
    """ln D(u) = ln trend(u) + g(u), g a Gaussian process conditioned on the kept anchors (Matérn 3/2).

    Two pixels are alike when they are near each other, on one surface as far as colour edges tell, of like colour and
    of like relative depth. The trend is the fit, or a constant when there is no relative field. The amplitude of g is
    estimated per image in closed form, held by a prior worth `prior_anchors` readings. The defaults were set on the
    training pack and serve every set.

    Attributes:
        position_length: length scale as a share of the image's shorter side.
        relative_length: length scale as a share of the relative field's range; in log depth, of its range at the
            readings, since a sky would stretch the field's own threefold.
        region_length: length scale of the coordinates that respect edges, as a share of the shorter side.
        colour_length: length scale in opponent colour, white to black being 1.
        amplitude: prior standard deviation of the residual of log depth when there is a relative field.
        amplitude_alone: the same without one, where g carries the whole scene.
        noise: standard deviation of a reading as a share of the amplitude.
        doubt: variance, as a share of the amplitude's, that a reading of weight w has (1 − w) times more: one that is
            likely wrong should say little even where it stands alone, where noise / w would still be small.
        prior_anchors: how many readings the prior amplitude counts for.
        spread: what is stated is the posterior's deviation times this. Errors have longer tails than a Gaussian's; with
            it 1.645 deviations hold 90 % of the pixels of the training pack, clean and with a quarter of the readings
            wrong (and one deviation 79 %).
        max_exact: the most anchors solved all together; more are solved tile by tile.
        trend_reach: the trend stays within the kept readings' range widened by this factor (squared where there is but
            one); a fit in inverse depth would else reach to the horizon wherever the relative field goes past its
            anchors.
    """

    position_length: float = Lengths().position
    region_length: float = Lengths().region
    relative_length: float = Lengths().relative
    colour_length: float = Lengths().colour
    amplitude: float = 0.2
    amplitude_alone: float = 0.5
    noise: float = 0.06
    doubt: float = 0.02
    prior_anchors: float = 4.0
    spread: float = 1.25
    max_exact: int = 256
    trend_reach: float = 3.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e12)
        check_numbers(self, 1.0, 1e6, only=("trend_reach",))

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`."""
        samples, (H, W) = scene.samples, scene.shape
        if len(samples):
            at_anchors = self._log_trend(scene, samples.x, (len(samples),))
            field = self.residual_field(scene, np.log(samples.z_m) - at_anchors)
        else:
            field = Field(np.zeros((1, 1), np.float32), np.full((1, 1), np.float32(PRIOR_SPREAD)), max(H, W))
        depth_m, sigma_m = np.empty((2, H, W), np.float32)

        def finish(top: int, bottom: int) -> None:
            for v in range(top, bottom, _ROWS):
                rows = slice(v, min(v + _ROWS, bottom))
                x = None if scene.relative is None else scene.relative[rows]
                trend = self._log_trend(scene, x, depth_m[rows].shape)
                mean, std = (enlarged(nodes, field.step, v, depth_m[rows].shape) for nodes in (field.mean, field.std))
                depth_m[rows], sigma_m[rows] = self._depth(trend + mean, std, len(samples))

        for_each_span(H, finish)
        return HeadResult(depth_m, sigma_m)

    def _depth(self, median: FloatArray, std: FloatArray, num_anchors: int) -> tuple[FloatArray, FloatArray]:
        """Depth and its deviation, metres, where log depth has this median and standard deviation; any shape."""
        # Of a log-normal posterior, exp(mean − variance) has the least expected relative error; where the anchors leave
        # doubt it lies nearer than the median. On the training pack: 2 % less AbsRel at 25 anchors, nothing at 200.
        # With few anchors the variance itself is a guess, and the shift is held back as the amplitude's estimate is.
        trust = np.float32(num_anchors / (num_anchors + self.prior_anchors))
        depth_m = from_space(median - trust * np.minimum(std, 0.5) ** 2, "log_depth")
        # Half the width of the interval of one deviation to either side: (exp(m + s) − exp(m − s)) / 2.
        stated = np.float32(self.spread if num_anchors else 1.0) * std
        ratio = np.exp(np.minimum(stated, np.float32(2.5)))
        half_width = np.exp(median) * (ratio - 1.0 / ratio) * np.float32(0.5)
        low, high = SIGMA_SHARE
        return depth_m, np.clip(half_width, low * depth_m, high * depth_m)

    def residual_field(self, scene: Scene, residuals: FloatArray) -> Field:
        """The process over the image, conditioned on the log residuals (K,) of the scene's anchors, K >= 1."""
        samples = scene.samples
        step = _step(scene.shape, len(samples))
        features = self._features(scene, step)
        prior = self._prior_amplitude(scene)
        noise_var = self.noise**2 + self.doubt * (1.0 - samples.weight)
        if samples.noise_m is not None:
            noise_var += np.minimum(samples.noise_m / samples.z_m / prior, 1e6) ** 2
        noise_var /= samples.weight
        readings = Readings(features.at(samples.uv_px, samples.x), noise_var, residuals)
        if len(samples) <= max(self.max_exact, NUM_NEAREST):
            post, length2 = posterior(readings)
            num_rows, num_columns = features.grid
            mean, explained = np.empty((2, num_rows * num_columns), np.float32)
            bands = features.bands()

            def work(first: int, last: int) -> None:
                for top, bottom in bands[first:last]:
                    span = slice(top * num_columns, bottom * num_columns)
                    predict(features.band(top, bottom), 0, span.stop - span.start, post, mean[span], explained[span])

            for_each_span(len(bands), work)
        else:
            mean, explained, length2 = predict_tiled(samples.uv_px / step, features, readings)
        amplitude_var = (self.prior_anchors * prior**2 + length2) / (self.prior_anchors + len(samples))
        variance = np.subtract(np.float32(PRIOR_VAR), explained, out=explained)
        np.maximum(variance, np.float32(0.0), out=variance)
        variance *= np.float32(amplitude_var)
        return Field(mean.reshape(features.grid), np.sqrt(variance, out=variance).reshape(features.grid), step)

    def _prior_amplitude(self, scene: Scene) -> float:
        return self.amplitude_alone if scene.relative is None else self.amplitude

    def _log_trend(self, scene: Scene, x: FloatArray | None, shape: tuple[int, ...]) -> FloatArray:
        """Log depth of the fit at `x`, of `shape`; without a relative field, of the fitted constant."""
        samples, curve = scene.samples, scene.fit.curve
        z_m = samples.trusted.z_m
        # One reading fixes the field's scale and says nothing of the scene's extent.
        factor = self.trend_reach if z_m.size > 1 else self.trend_reach**2
        reach = (float(z_m.min()) / factor, float(z_m.max()) * factor) if z_m.size else ()
        if x is not None and curve is not None:
            return log_from_space(curve(x), "log_depth", *reach)
        y = np.full(shape, scene.fit.shift) if x is None else scene.fit(x)
        return log_from_space(y, samples.space, *reach)

    def _features(self, scene: Scene, step: int = 1) -> Features:
        lengths = Lengths(self.position_length, self.region_length, self.relative_length, self.colour_length)
        relative = None if scene.samples.x is None else scene.relative
        return Features(scene.looks or Looks(scene.image), relative, lengths, range_at(scene.samples), step)


def range_at(samples: Samples) -> tuple[float, float] | None:
    """The range of the relative field that matters to the readings; that of the field itself where they cannot say."""
    if samples.x is None or not samples.x.size or samples.space != "log_depth" or not samples.native:
        return samples.x_range
    low, high = np.percentile(samples.x, [2.0, 98.0])
    return float(low), float(low) + max(_BEYOND * float(high - low), _NARROWEST)


def _step(shape: tuple[int, int], num_anchors: int) -> int:
    """Pixels between the nodes of the grid on an image of `shape` (H, W)."""
    H, W = shape
    spacing = (H * W / num_anchors) ** 0.5
    return max(1, min(round(min(H, W) / _NODES), int(spacing / _NODES_PER_ANCHOR)))


IMPLEMENTATION = Kriging
