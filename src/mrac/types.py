"""The values that flow between the stages: frozen, checked once when made, shapes and units in every docstring.

Which anchors count, and how much, is decided by a gate's weights, and how they are read is defined here alone: a weight
above 0 reaches the head (`GateResult.for_head`), a weight of `INLIER_WEIGHT` or more the fit (`GateResult.for_fit`) and
heads that take whole anchors only (`Samples.inliers`).
"""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import BoolArray, FloatArray, TextArray, as_array
from mrac.errors import ContractError
from mrac.lazy import computed_once
from mrac.space import Space, as_space, to_space

# In robust standard deviations, of what cannot be judged at all (a NaN, a point outside the image): scores stay finite.
WORST_SCORE: Final = 1e6
INLIER_WEIGHT: Final = 0.5  # from which an anchor is an inlier, for consumers that need a hard decision
MIN_WEIGHT: Final = 1e-3  # up to which a gate's weight is 0: such a reading changes nothing and costs time
MIN_FOR_LINE: Final = 3  # anchors, below which their scatter around a line is undefined


def is_constant(x: FloatArray) -> bool:
    """Whether all x (n,), n >= 1, are one value up to rounding, so that no slope can be determined."""
    # A relative field has single precision: nine digits below its values is noise of the sub-pixel sampling.
    return bool(np.ptp(x) <= max(1e-9 * np.abs(x).max(), 1e-30))


@dataclass(frozen=True, eq=False, init=False)
class RelativeDepth:
    """A dense depth field without scale: in its `space`, metric depth is about scale · values + shift.

    Attributes:
        values: (H, W) float32; NaN where there is no prediction, +inf where "infinitely far" (sky).
        space: which quantity is affine in `values`.
    """

    values: FloatArray
    space: Space

    def __init__(self, values: ArrayLike, space: str) -> None:
        field = as_array(values, "RelativeDepth.values")
        if field.ndim != 2 or field.size == 0 or field.dtype.kind not in "fiu":
            raise ContractError(
                f"RelativeDepth.values: (H, W) numbers are needed, {field.dtype} of shape {field.shape} arrived"
            )
        with np.errstate(all="ignore"):  # beyond single precision is as good as infinite
            object.__setattr__(self, "values", field.astype(np.float32))
        object.__setattr__(self, "space", as_space(space))


@dataclass(frozen=True, eq=False)
class Samples:
    """The usable anchors as gate, fit and head see them: points (x, y) of the relation y = scale · x + shift.

    Attributes:
        uv_px: (K, 2) positions inside the image; from a `Calibrator` one per pixel, by pixel row and then column.
        z_m: (K,) metres, finite and > 0.
        x: (K,) relative depth at the anchors, or None when there is no relative field.
        space: the space of `y`.
        native: whether `x` itself is of that space, so that a positive slope (and, in log depth, slope 1) is expected.
        weight: (K,) in [0, 1].
        noise_m: (K,) stated standard deviation of each reading, or None.
        features: (K, NUM_FEATURES) of `mrac.gp`, where the gate computed them; None elsewhere.
        x_range: the typical range of the relative field, `relative.typical_range`; None where it is not known.
        extent_px: (K, 2) width and height of the area whose mean each reading is, 0 for a point; None: all points.
    """

    uv_px: FloatArray
    z_m: FloatArray
    x: FloatArray | None
    space: Space
    native: bool
    weight: FloatArray
    noise_m: FloatArray | None = None
    features: FloatArray | None = None
    x_range: tuple[float, float] | None = None
    extent_px: FloatArray | None = None

    @property
    def flat(self) -> bool:
        """Whether all x are one value up to rounding, so that no slope can be determined."""
        return self.x is None or self.x.size == 0 or is_constant(self.x)

    @property
    def y(self) -> FloatArray:
        """(K,) the readings in `space`."""
        return to_space(self.z_m, self.space)

    @property
    def relative_noise(self) -> FloatArray | None:
        """(K,) stated standard deviation of each reading as a share of its depth, or None."""
        return None if self.noise_m is None else self.noise_m / self.z_m

    def __len__(self) -> int:
        return self.z_m.size

    @computed_once
    def inliers(self) -> Self:
        """Those of weight `INLIER_WEIGHT` or more, for heads without weights; all where there is none."""
        chosen = self.weight >= INLIER_WEIGHT
        return self.keep(chosen, self.weight) if chosen.any() else self

    def keep(self, keep: BoolArray, weight: FloatArray) -> Self:
        """A subset with new weights; `keep` and `weight` are (K,)."""

        def some(values: FloatArray | None) -> FloatArray | None:
            return None if values is None else values[keep]

        return type(self)(
            uv_px=self.uv_px[keep],
            z_m=self.z_m[keep],
            x=some(self.x),
            space=self.space,
            native=self.native,
            weight=weight[keep],
            noise_m=some(self.noise_m),
            features=some(self.features),
            x_range=self.x_range,
            extent_px=some(self.extent_px),
        )


@dataclass(frozen=True, eq=False)
class GateResult:
    """A gate's verdict on each of K anchors.

    Attributes:
        keep: (K,) whether the anchor is taken for an inlier.
        score: (K,) absolute residual in robust standard deviations, finite.
        reason: (K,) one word for a person: `consistent`, `unjudged`, `nearer_than_fit`, `farther_than_fit`, ...
        weight: (K,) in [0, 1], by which fit and head use it; up to `MIN_WEIGHT` it becomes 0.
        status: `ok` or a named degradation.
        outlier_probability: (K,), where it is not 1 − weight; None is 1 − weight, and `keep` is weight >= 0.5.
        features: (K, NUM_FEATURES) of `mrac.gp`, where the gate computed them; the fit uses them.
        use_relative: whether fit and head are to use the relative depth; False where the readings contradict it.
    """

    keep: BoolArray
    score: FloatArray
    reason: TextArray
    weight: FloatArray
    status: str = "ok"
    outlier_probability: FloatArray | None = None
    features: FloatArray | None = None
    use_relative: bool = True

    def __post_init__(self) -> None:
        weight = np.asarray(self.weight)
        # A NaN stays, for the gate's contract to find it.
        object.__setattr__(self, "weight", np.where(weight <= MIN_WEIGHT, 0.0, weight))

    @property
    def for_head(self) -> BoolArray:
        """(K,) which anchors the head is given: those of any weight."""
        return np.asarray(self.weight > 0.0)

    @property
    def for_fit(self) -> BoolArray:
        """(K,) which anchors the fit is given: inliers by weight; where these are under three, kept ones too."""
        chosen = np.asarray(self.weight >= INLIER_WEIGHT)
        if np.count_nonzero(chosen) < MIN_FOR_LINE:
            chosen = chosen | (self.keep & self.for_head)
        return chosen


@dataclass(frozen=True, eq=False)
class DepthCurve:
    """Log depth as a piecewise linear function of relative depth, extrapolated straight beyond the first and last knot.

    Attributes:
        x: (N,) knots, increasing, N >= 2.
        log_depth: (N,) at the knots, depth in metres.
        probabilities: of each relation that was averaged, by name.
    """

    x: FloatArray
    log_depth: FloatArray
    probabilities: dict[str, float] = field(default_factory=dict)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Log depth at `x`, any shape."""
        inside = np.interp(x, self.x, self.log_depth)
        first, last = (np.diff(self.log_depth)[i] / np.diff(self.x)[i] for i in (0, -1))
        return np.asarray(inside + first * np.minimum(x - self.x[0], 0.0) + last * np.maximum(x - self.x[-1], 0.0))


@dataclass(frozen=True, eq=False)
class FitResult:
    """The relation y = scale · x + shift between relative values and depth in the fit's space.

    Attributes:
        scale: slope; 0 when only a constant could be determined.
        shift: intercept, in units of y.
        covariance: (2, 2) of (scale, shift), finite, positive semi-definite.
        sigma: standard deviation of y around the line, >= 0.
        used: (K,) which of the given `Samples`, in their order, the line was fitted to: all, unless the fit selects.
        status: `ok` or a named degradation.
        curve: a nonlinear relation that fits better than any line, for a head that can use it; None without one.
    """

    scale: float
    shift: float
    covariance: FloatArray
    sigma: float
    used: BoolArray
    status: str = "ok"
    curve: DepthCurve | None = None

    def __call__(self, x: FloatArray) -> FloatArray:
        """The line at `x`, any shape: float64, since scale and shift may nearly cancel."""
        return np.asarray(x * np.float64(self.scale) + np.float64(self.shift))
