"""The contract of a fit, and what every fit returns where no line is determined."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.robust_line.least_squares import line_covariance
from mrac.space import Space, to_space
from mrac.stage_results import checked_fit
from mrac.types import FitResult, Samples

# Prior of a scene without a reading: a room, with a standard deviation of a factor of e.
PRIOR_DEPTH_M: Final = 3.0
PRIOR_SPREAD: Final = 1.0
# Relative standard deviation of depth around a line that no third anchor could check.
UNCHECKED_SPREAD: Final = 0.3


class Fit(ABC):
    """Fits y = scale · x + shift; a frozen dataclass of its parameters that keeps nothing between calls.

    Scenes in which a line is not determined are handled here, the same way for every fit. The rule, and the status:

    - No relative field: a constant, the median of y. `ok`; with one anchor `one_anchor`.
    - No anchor: as if one read 3 m at the middle of the field's range; without a field, a constant. `no_anchors`.
    - One anchor: one unknown, see `_one_unknown`. `one_anchor`.
    - All x equal: one unknown, from the medians. `constant_relative_depth`.
    - Two anchors: the line through both; one unknown if its slope has the impossible sign. `two_anchors`.
    - Two anchors and `has_prior`: the fit's own `solve`. `two_anchors`.
    - Three or more: the fit's own `solve`. `ok`; a slope of the impossible sign is kept and named `negative_slope`.

    Attributes:
        has_prior: whether `solve` has a prior of the relation: it then takes two anchors, and recovers an exact
            relation only up to the weight of the prior.
    """

    has_prior: ClassVar[bool] = False

    def __call__(self, samples: Samples) -> FitResult:
        """Fits any number of samples, 0 included; never NaN."""
        undetermined = _undetermined(samples, self.has_prior)
        if undetermined is not None:
            return undetermined
        assert samples.x is not None
        result = checked_fit(self, self.solve(samples, samples.x, samples.y), len(samples))
        if len(samples) == 2:
            return replace(result, status="two_anchors")
        if samples.native and result.scale < 0.0 and result.status == "ok":
            return replace(result, status="negative_slope")
        return result

    @abstractmethod
    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """Fits three or more samples, with a prior two, whose `x` (K,) are not all equal to `y` (K,)."""


def _undetermined(samples: Samples, has_prior: bool) -> FitResult | None:
    """The table of `Fit`, all but the rows with `solve`, for which it returns None."""
    if len(samples) == 0:
        y = float(to_space(PRIOR_DEPTH_M, samples.space))
        if samples.x_range is None:
            return _constant(samples, y, PRIOR_SPREAD, "no_anchors")
        return _one_unknown(samples, (0.5 * sum(samples.x_range), y), PRIOR_SPREAD, "no_anchors")
    if samples.x is None:
        status = "one_anchor" if len(samples) == 1 else "ok"
        return _constant(samples, float(np.median(samples.y)), _spread(samples), status)
    if len(samples) == 1:
        return _one_unknown(samples, _middle(samples), UNCHECKED_SPREAD, "one_anchor")
    if samples.flat:
        return _one_unknown(samples, _middle(samples), UNCHECKED_SPREAD, "constant_relative_depth")
    return _two_anchors(samples) if len(samples) == 2 and not has_prior else None


def _constant(samples: Samples, shift: float, spread: float, status: str) -> FitResult:
    sigma = spread * y_per_log_depth(shift, samples.space)
    covariance = np.diag([0.0, sigma**2 / max(len(samples), 1)])
    return FitResult(0.0, shift, covariance, sigma, np.ones(len(samples), np.bool_), status)


def _middle(samples: Samples) -> tuple[float, float]:
    assert samples.x is not None
    return float(np.median(samples.x)), float(np.median(samples.y))


def _one_unknown(samples: Samples, point: tuple[float, float], spread: float, status: str) -> FitResult:
    """A relation with one unknown, through `point` (x, y), of relative standard deviation `spread`.

    Where x is of the fit's own space the unknown is its scale (in log depth, its shift); otherwise, or where x is not
    positive, it is a constant depth.
    """
    x, y = point
    scale, shift = 0.0, y
    sigma = spread * y_per_log_depth(y, samples.space)
    covariance = np.diag([0.0, sigma**2])
    if samples.native and samples.space == "log_depth":
        scale, shift = 1.0, y - x
    elif samples.native and x > 1e-30:  # smaller is zero in single precision, which relative fields have
        scale, shift = y / x, 0.0
        covariance = np.diag([(sigma / x) ** 2, 0.0])  # the scale is unknown: a constant share of depth
    return FitResult(scale, shift, covariance, sigma, np.ones(len(samples), np.bool_), status)


def _two_anchors(samples: Samples) -> FitResult:
    assert samples.x is not None
    x, y = samples.x, samples.y
    scale = float((y[1] - y[0]) / (x[1] - x[0]))
    if samples.native and scale <= 0.0:
        return _one_unknown(samples, _middle(samples), UNCHECKED_SPREAD, "two_anchors")
    sigma = UNCHECKED_SPREAD * y_per_log_depth(float(y.mean()), samples.space)
    covariance = line_covariance(x, np.ones(2), sigma, sigma)
    return FitResult(scale, float(y[0] - scale * x[0]), covariance, sigma, np.ones(2, np.bool_), "two_anchors")


def _spread(samples: Samples) -> float:
    return max(float(np.std(np.log(samples.z_m))), UNCHECKED_SPREAD)


def y_per_log_depth(y: float, space: Space) -> float:
    """How much y changes per unit of log depth: turns a relative deviation of depth into one of y."""
    return 1.0 if space == "log_depth" else abs(y)
