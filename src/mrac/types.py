"""What flows between the stages: frozen, checked once when made, shapes and units in every docstring."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mrac import lognormal
from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.curve import Curve
from mrac.errors import ContractError
from mrac.space import Space, as_space, to_space

# In robust standard deviations, of what cannot be judged at all (a NaN, a point outside the image): scores stay finite.
WORST_SCORE = 1e6


def as_numbers(values: ArrayLike, name: str) -> FloatArray:
    """A float64 copy of `values`.

    Raises:
        ContractError: they are not real numbers, or not of one shape.
    """
    try:
        raw = np.asarray(values)
        numbers = raw.real.astype(np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ContractError(f"{name}: numbers are needed, but {error}") from None
    if np.iscomplexobj(raw):
        raise ContractError(f"{name}: real numbers are needed, complex ones arrived")
    return numbers


def _frozen(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """A read-only float64 copy of `values`, checked against `shape` (None: any length)."""
    array = as_numbers(values, name)
    if array.size == 0 and len(shape) > 1 and 0 in shape:  # [] has no columns to count
        array = array.reshape([0 if n is None else n for n in shape])
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("K" if n is None else str(n) for n in shape)
        raise ContractError(f"{name}: an array of shape ({wanted}) is needed, shape {array.shape} arrived")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False, init=False)
class Anchors:
    """K sparse range readings. Wrong, missing and impossible values are welcome: they are judged, not refused.

    Attributes:
        uv_px: (K, 2), u right and v down, pixel centres at integers; sub-pixel positions are used as they are.
        z_m: (K,) metres along the optical axis.
        sigma_m: (K,) standard deviation of each in metres, or None. `kriging` and `evidence` weigh readings by it.
    """

    uv_px: FloatArray
    z_m: FloatArray
    sigma_m: FloatArray | None

    def __init__(self, uv_px: ArrayLike, z_m: ArrayLike, sigma_m: ArrayLike | None = None) -> None:
        z = _frozen(z_m, "Anchors.z_m", (None,))
        sigma = None if sigma_m is None else _frozen(sigma_m, "Anchors.sigma_m", (z.size,))
        object.__setattr__(self, "z_m", z)
        object.__setattr__(self, "uv_px", _frozen(uv_px, "Anchors.uv_px", (z.size, 2)))
        object.__setattr__(self, "sigma_m", sigma)

    def __len__(self) -> int:
        return self.z_m.size


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
        field = np.asarray(values)
        if field.ndim != 2 or field.size == 0 or field.dtype.kind not in "fiu":
            raise ContractError(
                f"RelativeDepth.values: (H, W) numbers are needed, {field.dtype} of shape {field.shape} arrived"
            )
        with np.errstate(over="ignore"):  # beyond single precision is as good as infinite
            object.__setattr__(self, "values", field.astype(np.float32))
        object.__setattr__(self, "space", as_space(space))


@dataclass(frozen=True, eq=False)
class Samples:
    """The usable anchors as the gate and the fit see them: points (x, y) of the relation y = scale · x + shift.

    Attributes:
        uv_px: (K, 2) pixel positions inside the image.
        z_m: (K,) metres, finite and > 0.
        x: (K,) the relative field at the anchors, or None when there is no relative field.
        space: the space of `y`.
        native: whether `x` itself is of that space, so that a positive slope (and, in log depth, slope 1) is expected.
        weight: (K,) trust in each anchor, in [0, 1].
        noise_m: (K,) standard deviation of each reading, or None.
        alike: (K, NUM_FEATURES) of `likeness.features`; None unless the gate looks at the image, as the next.
        beside: (K, 2) least and largest value of the relative field in a small window around each; None without one.
        x_range: from where to where the relative field typically is, `relative.typical_range`; None where nobody says.
    """

    uv_px: FloatArray
    z_m: FloatArray
    x: FloatArray | None
    space: Space
    native: bool
    weight: FloatArray
    noise_m: FloatArray | None = None
    alike: FloatArray | None = None
    beside: FloatArray | None = None
    x_range: tuple[float, float] | None = None

    @property
    def flat(self) -> bool:
        """Whether all x are one value up to rounding, so that no slope can be told from them."""
        if self.x is None or self.x.size == 0:
            return True
        # A relative field has single precision: nine digits below its values is noise of the sub-pixel reading.
        return bool(np.ptp(self.x) <= max(1e-9 * np.abs(self.x).max(), 1e-30))

    @property
    def y(self) -> FloatArray:
        """(K,) the readings in `space`."""
        return to_space(self.z_m, self.space)

    def __len__(self) -> int:
        return self.z_m.size

    @cached_property
    def trusted(self) -> Self:
        """Those of half a weight or more, for heads that know no doubt; all where none has."""
        return self.keep(self.weight >= 0.5, self.weight) if (self.weight >= 0.5).any() else self

    def keep(self, keep: BoolArray, weight: FloatArray) -> Self:
        """The samples a gate lets through, with its weights; `keep` and `weight` are (K,)."""
        return type(self)(
            uv_px=self.uv_px[keep],
            z_m=self.z_m[keep],
            x=None if self.x is None else self.x[keep],
            space=self.space,
            native=self.native,
            weight=weight[keep],
            noise_m=None if self.noise_m is None else self.noise_m[keep],
            alike=None if self.alike is None else self.alike[keep],
            beside=None if self.beside is None else self.beside[keep],
            x_range=self.x_range,
        )


@dataclass(frozen=True, eq=False)
class GateResult:
    """A verdict on each of K anchors.

    Attributes:
        keep: (K,) whether the anchor is taken for right.
        score: (K,) how suspicious it is, in robust standard deviations, finite, >= 0.
        reason: (K,) one word for a person: `consistent`, `unjudged`, `nearer_than_fit`, `farther_than_fit`, ...
        weight: (K,) trust in [0, 1], by which what comes after goes: doubt is weight, who knows none takes from 0.5 on,
            an anchor of weight 0 is not looked at.
        status: `ok` or a named degradation.
        wrong: (K,) probability of being wrong, where trust is another matter; None is 1 − weight, `keep` weight >= 0.5.
    """

    keep: BoolArray
    score: FloatArray
    reason: TextArray
    weight: FloatArray
    status: str = "ok"
    wrong: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class FitResult:
    """The relation y = scale · x + shift between relative values and depth in the fit's space.

    Attributes:
        scale: slope; 0 when only a constant could be determined.
        shift: intercept, in units of y.
        covariance: (2, 2) of (scale, shift), finite, positive semi-definite.
        sigma: standard deviation of y around the line, >= 0.
        used: (K,) which of the given anchors support the line (all, except for consensus fits).
        status: `ok` or a named degradation.
        curve: what the fit holds to be better than any line, for a head that can follow it; None where there is none.
    """

    scale: float
    shift: float
    covariance: FloatArray
    sigma: float
    used: BoolArray
    status: str = "ok"
    curve: Curve | None = None

    def __call__(self, x: FloatArray) -> FloatArray:
        """The line at `x`, any shape: float64, since scale and shift may nearly cancel."""
        return np.asarray(x * np.float64(self.scale) + np.float64(self.shift))


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What became of every anchor that came in, in their order.

    Attributes:
        keep: (K,) whether it was taken for right.
        score: (K,) suspicion in robust standard deviations; `WORST_SCORE` for a reading that could not be used at all.
        wrong: (K,) probability of being wrong; 0 or 1 from a gate that knows no doubt, 1 where it could not be used.
        trust: (K,) how far fit and head heard it, in [0, 1]; see `GateResult.weight`.
        reason: (K,) one word: the gate's, or why it could not be used (docs/reference.md).
    """

    keep: BoolArray
    score: FloatArray
    wrong: FloatArray
    trust: FloatArray
    reason: TextArray

    def __len__(self) -> int:
        return self.keep.size

    def to_json(self) -> list[dict[str, Any]]:
        """One plain dictionary for each anchor."""
        columns = {name: (v.round(4) if v.dtype.kind == "f" else v).tolist() for name, v in vars(self).items()}
        return [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]


@dataclass(frozen=True, eq=False)
class MetricDepth:
    """The answer.

    Attributes:
        depth_m: (H, W) float32 metres, finite and > 0 everywhere.
        sigma_m: (H, W) float32 standard deviation in metres, finite and > 0 everywhere. Depth is log-normal: this is
            half the width of the interval from one deviation of its logarithm below to one above.
        anchors: the verdict on every anchor.
        status: `ok`, or a named degradation: the fit's, else the gate's, else the head's.
        fit: the closed-form fit on the kept anchors.
        space: the space of that fit.
        stages: the name of what ran at each; the foundation is `given` where the call brought its own field.
        options: the parameters of each stage, by stage and name.
        timings_ms: wall time of each stage.
        cache: `hit` where the foundation's field was read from disk, `miss` where it was not yet there, else `off`.
    """

    depth_m: FloatArray
    sigma_m: FloatArray
    anchors: Verdicts
    status: str
    fit: FitResult
    space: Space
    stages: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    cache: str = "off"

    def probability_nearer(self, d_m: float) -> FloatArray:
        """(H, W) float32 probability that a pixel's depth is less than `d_m` metres; see `mrac.lognormal`.

        Raises:
            ContractError: `d_m` is not a finite number > 0.
        """
        return lognormal.probability_nearer(self.depth_m, self.sigma_m, d_m)

    def interval(self, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """(H, W) float32 lower and upper limit, metres, of the central interval of that probability.

        Raises:
            ContractError: `level` is not between 0 and 1.
        """
        return lognormal.interval(self.depth_m, self.sigma_m, level)

    def to_json(self) -> dict[str, Any]:
        """Everything but the maps, as plain values for `report.json`."""
        return {
            "status": self.status,
            "stages": self.stages,
            "options": self.options,
            "space": self.space,
            "fit": {
                "scale": self.fit.scale,
                "shift": self.fit.shift,
                "covariance": self.fit.covariance.tolist(),
                "sigma": self.fit.sigma,
                "status": self.fit.status,
                "relations": {} if self.fit.curve is None else self.fit.curve.beliefs,
            },
            "anchors": self.anchors.to_json(),
            "timings_ms": {name: round(ms, 3) for name, ms in self.timings_ms.items()},
            "cache": self.cache,
        }
