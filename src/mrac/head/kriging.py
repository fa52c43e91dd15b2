"""Residual kriging: Gaussian-process posterior of log depth around the fit, with edge-aware features."""

import math
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit.base import PRIOR_SPREAD
from mrac.gp.areas import area_points, area_posterior
from mrac.gp.features import ImageAppearance, LengthScales, PixelFeatures, covered_area
from mrac.gp.kernel import PRIOR_VAR, WeightedProcessOptions
from mrac.gp.posterior import Observations, Posterior, posterior, predict
from mrac.head._depth_curve import log_depth_on
from mrac.head._posterior_depth import Field, Rendering, render
from mrac.head._tiles import NUM_NEAREST, predict_tiled
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.relative import PIXELS_BEYOND, quantile_range, sample_bilinear
from mrac.runtime.parallel import for_each_band, for_each_span
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, log_from_space
from mrac.types import Samples

_ROWS: Final = 256  # of an image, finished at a time
# The process is predicted at the nodes of a grid, so many along the image's shorter side or so many between two
# anchors, whichever are more, and upsampled: features change little in between. The trend is computed at every pixel.
# On training frames, against twice as many along the side: no more error at 50 and 200 anchors, 0.3 % at 500.
_NODES: Final = 120
_NODES_PER_ANCHOR: Final = 6.0
MIN_SPREAD: Final = 0.05  # of the image: what a row or a patch of readings is taken to cover
MIN_RANGE: Final = 0.7  # in log depth, a factor of two: few readings may lie at one depth


@dataclass(frozen=True, kw_only=True)
class Kriging(WeightedProcessOptions, Head):
    """ln D(u) = ln trend(u) + g(u), g a Gaussian process conditioned on the weighted anchors (Matérn 3/2).

    The kernel compares position, edge-aware region, colour and relative depth. The trend is the fit, or a constant when
    there is no relative field. The amplitude of g is estimated per image in closed form, under a prior worth
    `prior_anchors` readings. The defaults were set on the training pack and serve every set.

    Attributes:
        position_length: length scale as a share of the image's shorter side.
        region_length: length scale of the edge-aware coordinates, as a share of the shorter side.
        relative_length: length scale as a share of the range of relative depth; in log depth, of its range at the
            readings, since a sky would stretch the field's own threefold.
        colour_length: length scale in opponent colour, white to black being 1.
        amplitude: prior standard deviation of the residual of log depth when there is a relative field.
        amplitude_without_relative: the same without one, where g carries the whole scene.
        noise: standard deviation of a reading as a share of the amplitude.
        soft_noise: see `WeightedProcessOptions`.
        prior_anchors: how many readings the prior amplitude counts for.
        sigma_factor: the stated standard deviation is the posterior's times this. Errors have longer tails than a
            Gaussian's; with it 1.645 deviations hold 90 % of the pixels of the training pack, clean and with a quarter
            of the readings wrong (and one deviation 79 %).
        max_exact: the most anchors solved all together; more are solved tile by tile.
        extrapolation: standard deviation of log depth that is added per unit of log depth by which a pixel lies beyond
            the range of the inliers: nothing was measured there. On the training pack, with a sensor of short range, a
            90 % interval then holds 86 % of the pixels, and 81 % without.
        trend_reach: the trend stays within the inliers' range widened by this factor (squared where there is but one);
            a fit in inverse depth would else reach to the horizon wherever relative depth exceeds that of its anchors.
    """

    position_length: float = LengthScales().position
    region_length: float = LengthScales().region
    relative_length: float = LengthScales().relative
    colour_length: float = LengthScales().colour
    amplitude_without_relative: float = 0.5
    sigma_factor: float = 1.25
    extrapolation: float = 0.8
    max_exact: int = 256
    trend_reach: float = 3.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e12, only=tuple(f.name for f in fields(self) if f.name != "extrapolation"))
        check_numbers(self, 0.0, 1e6, only=("extrapolation",))
        check_numbers(self, 1.0, 1e6, only=("trend_reach",))

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`."""
        samples, (H, W) = scene.samples, scene.image.shape[:2]
        if len(samples):
            at_anchors = self._log_trend(scene, samples.x, (len(samples),))
            field = self.residual_field(scene, np.log(samples.z_m) - at_anchors)
        else:
            field = Field(np.zeros((1, 1), np.float32), np.full((1, 1), np.float32(PRIOR_SPREAD)), max(H, W))
        depth_m, sigma_m = np.empty((2, H, W), np.float32)
        constants = self._rendering(samples)

        def finish(rows: slice) -> None:
            x = None if scene.relative is None else scene.relative[rows]
            trend = self._log_trend(scene, x, depth_m[rows].shape)
            render(trend, field, rows.start, constants, depth_m[rows], sigma_m[rows])

        for_each_band(H, finish, _ROWS)
        return HeadResult(depth_m, sigma_m)

    def _rendering(self, samples: Samples) -> Rendering:
        # On the training pack the shift to the nearer side gives 2 % less AbsRel at 25 anchors, nothing at 200. With
        # few anchors the variance itself is uncertain, and the shift is shrunk as the amplitude's estimate is.
        num = len(samples)
        measured = np.log(samples.inliers.z_m) if num else np.array([-np.inf, np.inf])
        numbers = (num / (num + self.prior_anchors), self.sigma_factor if num else 1.0, self.extrapolation)
        return Rendering(*map(np.float32, (*numbers, measured.min(), measured.max())))

    def residual_field(self, scene: Scene, residuals: FloatArray) -> Field:
        """The posterior over the image, given the log residuals (K,) of the scene's anchors, K >= 1."""
        samples = scene.samples
        step = node_step(scene.image.shape[:2], len(samples))
        features = self._features(scene, step)
        prior = self._prior_amplitude(scene)
        noise_var = self.noise_var(samples.weight, samples.relative_noise, prior)
        observations = Observations(features.at(samples.uv_px, samples.x), noise_var, residuals)
        if len(samples) <= max(self.max_exact, NUM_NEAREST):
            if samples.extent_px is not None and samples.extent_px.any():
                post, length2 = self._posterior_of_areas(scene, features, noise_var)
            else:
                post, length2 = posterior(observations)
            num_rows, num_columns = features.grid
            mean, explained = np.empty((2, num_rows * num_columns), np.float32)
            bands = features.bands()

            def work(first: int, last: int) -> None:
                for top, bottom in bands[first:last]:
                    span = slice(top * num_columns, bottom * num_columns)
                    predict(features.band(top, bottom), 0, span.stop - span.start, post, mean[span], explained[span])

            for_each_span(len(bands), work)
        else:
            mean, explained, length2 = predict_tiled(samples.uv_px, features, step, observations)
        share = spread(samples.uv_px, *scene.image.shape[:2])
        amplitude_var = self.amplitude_var(prior, length2, len(samples), share)
        variance = np.subtract(np.float32(PRIOR_VAR), explained, out=explained)
        np.maximum(variance, np.float32(0.0), out=variance)
        variance *= np.float32(amplitude_var)
        return Field(mean.reshape(features.grid), np.sqrt(variance, out=variance).reshape(features.grid), step)

    def _posterior_of_areas(
        self, scene: Scene, features: PixelFeatures, noise_var: FloatArray
    ) -> tuple[Posterior, float]:
        """As `posterior`, for readings that are means over areas; more than `max_exact` are taken as points.

        With 8 × 8 zones of true depth on training frames and networks that had not seen them, against the readings as
        points that have the mean relative depth of their zones: on NYU 10 % less error, and 90 % intervals that held
        83 % of the pixels hold 90 %.
        """
        samples = scene.samples
        assert samples.extent_px is not None
        points = area_points(samples.uv_px, samples.extent_px, scene.image.shape[:2])
        x = None if samples.x is None or scene.relative is None else sample_bilinear(scene.relative, points.uv_px)
        log_mean, share = points.means(self._log_trend(scene, x, (len(points.uv_px),)))
        return area_posterior(features.at(points.uv_px, x), points, share, noise_var, np.log(samples.z_m) - log_mean)

    def _prior_amplitude(self, scene: Scene) -> float:
        return self.amplitude_without_relative if scene.relative is None else self.amplitude

    def _log_trend(self, scene: Scene, x: FloatArray | None, shape: tuple[int, ...]) -> FloatArray:
        """Log depth of the fit at `x`, of `shape`; without a relative field, of the fitted constant."""
        samples, curve = scene.samples, scene.fit.curve
        z_m = samples.inliers.z_m
        # One reading determines the scale, but not the extent of the scene.
        factor = self.trend_reach if z_m.size > 1 else self.trend_reach**2
        reach = (float(z_m.min()) / factor, float(z_m.max()) * factor) if z_m.size else ()
        if x is not None and curve is not None:
            low, high = reach or (MIN_DEPTH_M, MAX_DEPTH_M)
            return log_depth_on(curve, x, math.log(low), math.log(high))
        y = np.full(shape, scene.fit.shift) if x is None else scene.fit(x)
        return log_from_space(y, samples.space, *reach)

    def _features(self, scene: Scene, step: int = 1) -> PixelFeatures:
        lengths = LengthScales(self.position_length, self.region_length, self.relative_length, self.colour_length)
        relative = None if scene.samples.x is None else scene.relative
        appearance = scene.appearance or ImageAppearance(scene.image)
        return PixelFeatures(appearance, relative, lengths, range_at(scene.samples), step)


def spread(uv_px: FloatArray, height: int, width: int) -> float:
    """How much of an image of that size (K, 2) positions are spread over: 1 evenly, `MIN_SPREAD` in a row or a patch.

    Readings that lie close together tell little about the amplitude of errors elsewhere: from those in one corner or
    row, three intervals in ten were too narrow on the training pack.
    """
    if len(uv_px) <= 2:
        return 1.0
    return min(max(covered_area(uv_px) / (height * width), MIN_SPREAD), 1.0)


def range_at(samples: Samples) -> tuple[float, float] | None:
    """The range of relative depth at the readings; that of the field where it is not log depth, or without readings."""
    if samples.x is None or not samples.x.size or samples.space != "log_depth" or not samples.native:
        return samples.x_range
    low, high = quantile_range(samples.x)
    return low, low + max(PIXELS_BEYOND * (high - low), MIN_RANGE)


def node_step(shape: tuple[int, int], num_anchors: int) -> int:
    """Pixels between the nodes of the grid on an image of `shape` (H, W)."""
    H, W = shape
    spacing = (H * W / num_anchors) ** 0.5
    return max(1, min(round(min(H, W) / _NODES), int(spacing / _NODES_PER_ANCHOR)))


IMPLEMENTATION = Kriging
