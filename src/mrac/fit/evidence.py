"""Bayesian fit: spaces and slopes averaged by evidence, with a prior that matters when anchors are few."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit._relations import Relation, RelationOptions, curves, relations
from mrac.fit.base import Fit, y_per_log_depth
from mrac.gp.features import LengthScales, features_without_image
from mrac.gp.kernel import WeightedProcessOptions
from mrac.gp.linear_algebra import student_t_log_density
from mrac.gp.posterior import ShiftFreeProcess
from mrac.registry import check_numbers
from mrac.space import POWERS, Space
from mrac.types import DepthCurve, FitResult, Samples

_MAX_READINGS: Final = 160  # that are used: more do not determine a curve of two unknowns any better
_ZOOMS: Final = 3  # rounds, each on the part of the last one's grid that has probability
_POINTS: Final = 17  # of a grid
_NEGLIGIBLE: Final = 9.0  # in log probability below the best
_MAX_STD: Final = 4.0  # standard deviations of the prior
_TYPICAL: Final = 0.1  # of the readings' range, below which the stated range of a field is not typical of it
_MAX_LOG_Y: Final = 50.0  # no scene comes near, and squares stay finite
# Knots of the curve, in shares of the field's range. The logarithm of a line bends most where the line all but reaches
# zero, at an end; beyond the ends the curve is nearly straight.
_INSIDE: Final = np.geomspace(1e-4, 0.5, 40)
_OUTSIDE: Final = np.geomspace(0.02, 40.0, 12)
_KNOTS: Final = np.concatenate([-_OUTSIDE[::-1], [0.0], _INSIDE, 1.0 - _INSIDE[-2::-1], [1.0], 1.0 + _OUTSIDE])


class _Grid(NamedTuple):
    """R relations at G contrasts each.

    Attributes:
        u: (R, K) relative depth at the readings, as each relation scales it.
        contrast: (R, G).
        weight: (R, G) probability of each contrast, given the relation.
        shift: (R, G) the best shift.
        probability: (R,) of each relation.
    """

    u: FloatArray
    contrast: FloatArray
    weight: FloatArray
    shift: FloatArray
    probability: FloatArray


@dataclass(frozen=True, kw_only=True)
class Evidence(RelationOptions, WeightedProcessOptions, Fit):
    """ln z = relation(x) + g + noise: candidate relations (`_relations`), averaged by leave-one-out evidence.

    g is the smooth error of the foundation, the Gaussian process of gate and head; its amplitude is integrated out. The
    contrast of each relation has a prior, so one reading gives the field's own contrast, two a compromise, many their
    own estimate. Where the readings clearly support a space, or a sign of the slope, other than the declared one, that
    one is taken. The defaults were set on the training pack.

    The line of the result is that of the space asked for; its curve is the average.

    Options are those of `RelationOptions` and `WeightedProcessOptions`, and:

    Attributes:
        noise: standard deviation of a reading as a share of the amplitude.
        dof: degrees of freedom of the Student-t distribution of leave-one-out residuals.
    """

    has_prior: ClassVar[bool] = True

    noise: float = 0.5
    dof: float = 5.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e6, only=("amplitude", "prior_anchors", "noise", "soft_noise"))
        check_numbers(self, 1e-4, 10.0, only=("slope_std", "contrast", "contrast_std"))
        check_numbers(self, 1e-9, 0.9999, only=("prior_unshifted", "prior_undeclared"))
        check_numbers(self, 2.1, 1e3, only=("dof",))

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; two samples are enough."""
        used = np.full(x.size, x.size <= _MAX_READINGS)
        if x.size > _MAX_READINGS:
            used[np.random.default_rng(0).permutation(x.size)[:_MAX_READINGS]] = True
            used[[x.argmin(), x.argmax()]] = True  # the ends determine a curve best
        some = samples.keep(used, samples.weight)
        low, high = _range(samples.x_range, x)
        found = relations(samples.space, samples.native, low, high, self)
        process = self._process(some, (low, high))
        grid = self._average(process, found, np.stack([r.u(x[used], low, high) for r in found]))
        declared = sum(float(p) for p, r in zip(grid.probability, found, strict=True) if r.declared)
        line, covariance, sigma = self._line(process, found, grid, samples, (low, high))
        status = "space_mismatch" if samples.native and declared < 0.5 and line[0] > 0.0 else "ok"
        return FitResult(*line, covariance, sigma, used, status, _average_curve(found, grid, low, high))

    def _process(self, samples: Samples, x_range: tuple[float, float]) -> ShiftFreeProcess:
        features = samples.features
        if features is None:
            features = features_without_image(samples.uv_px, samples.x, x_range, LengthScales())
        noise_var = self.noise_var(samples.weight, samples.relative_noise, self.amplitude)
        return ShiftFreeProcess(np.ascontiguousarray(features, np.float32), np.log(samples.z_m), noise_var)

    def _amplitude_var(self, length2: FloatArray, num: int) -> FloatArray:
        return np.asarray(self.amplitude_var(self.amplitude, length2, num - 1))  # one is spent on the shift

    def _average(self, process: ShiftFreeProcess, found: list[Relation], u_RK: FloatArray) -> _Grid:
        """The probability of each contrast, and of each relation."""
        R, K = u_RK.shape
        power = np.array([r.power for r in found])
        low, high = np.full((2, R), [[-_MAX_STD], [_MAX_STD]])
        for zoom in range(_ZOOMS):
            at = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _POINTS)
            contrast = np.stack([r.contrasts(a) for r, a in zip(found, at, strict=True)])
            shape = curves(u_RK, contrast, power)
            whitened = process.whitened_residual(shape)
            # The amplitude has an inverse-gamma prior, the shift a flat one: both are integrated out.
            length2 = (whitened * whitened).sum(axis=2)
            log_p = -0.5 * (self.prior_anchors + K - 1) * np.log(self._amplitude_var(length2, K)) - 0.5 * at**2
            likely = log_p > log_p.max(axis=1, keepdims=True) - _NEGLIGIBLE
            if zoom < _ZOOMS - 1:
                step, rows = (high - low) / (_POINTS - 1), np.arange(R)
                first, last = likely.argmax(axis=1), _POINTS - 1 - likely[:, ::-1].argmax(axis=1)
                low, high = at[rows, first] - step, at[rows, last] + step
        best = log_p.max(axis=1, keepdims=True)
        weight = np.exp(log_p - best)
        joint = best[:, 0] + np.log(weight.sum(axis=1) * (high - low))
        weight /= weight.sum(axis=1, keepdims=True)
        left_out = self._leave_one_out(process, whitened, self._amplitude_var(length2, K), weight)
        return _Grid(u_RK, contrast, weight, process.shift(shape), _probabilities(found, joint, left_out))

    def _leave_one_out(
        self, process: ShiftFreeProcess, whitened: FloatArray, amplitude_var: FloatArray, weight: FloatArray
    ) -> FloatArray:
        """(R,) leave-one-out evidence, the contrast (R, G) being estimated from the others alone."""
        error, var = process.leave_one_out(whitened)
        density = student_t_log_density(error, var * amplitude_var[:, :, None], self.dof)
        # p(z_k | the others) is the harmonic mean over the contrasts, weighted by their posterior given all readings.
        least = density.min(axis=1, keepdims=True)
        inverse = np.einsum("rg,rgk->rk", weight, np.exp(np.maximum(least - density, -300.0)))
        return np.asarray((least[:, 0] - np.log(inverse)).sum(axis=1))

    def _line(
        self,
        process: ShiftFreeProcess,
        found: list[Relation],
        grid: _Grid,
        samples: Samples,
        ends: tuple[float, float],
    ) -> tuple[tuple[float, float], FloatArray, float]:
        """(scale, shift), their covariance and the standard deviation around the likeliest line in the fit's space."""
        space = samples.space
        which = max(
            (i for i, r in enumerate(found) if r.space == space and not r.of_log),
            key=lambda i: float(grid.probability[i]),
        )
        weight, contrast, shift = grid.weight[which], grid.contrast[which], grid.shift[which]
        mean = np.array([weight @ contrast]), np.array([weight @ shift])
        at = curves(grid.u[which : which + 1], mean[0][None], np.array([POWERS[space]]))[0, 0] + mean[1]
        error = process.log_z - at
        scale, level = (float(v[0]) for v in _as_line(*mean, space, ends))
        lines = np.stack(_as_line(contrast, shift, space, ends)) - np.array([[scale], [level]])
        whitened = process.whitened_residual(at)
        amplitude_var = float(self._amplitude_var(np.array(whitened @ whitened), at.size))
        per_shift = np.array([0.0, 1.0] if space == "log_depth" else [POWERS[space] * scale, POWERS[space] * level])
        covariance = (lines * weight) @ lines.T + amplitude_var * process.shift_var * np.outer(per_shift, per_shift)
        sigma = math.sqrt(float(self._amplitude_var(error @ error, at.size)))
        return (scale, level), covariance, sigma * y_per_log_depth(float(np.median(samples.y)), space)


def _probabilities(found: list[Relation], joint: FloatArray, leave_one_out: FloatArray) -> FloatArray:
    """(R,) probability of each relation, from their joint and their leave-one-out log evidence (R,).

    A relation that is not declared must win by both. The first alone is misled by a few large residuals, the second is
    not informative where readings are so dense that neighbours explain each other whatever the trend.
    """
    declared = np.array([r.declared for r in found])
    prior = np.log([r.probability for r in found])
    joint, leave_one_out = joint + prior, leave_one_out + prior
    if declared.any():
        first = np.where(declared, joint, -np.inf).argmax()
        joint, leave_one_out = joint - joint[first], leave_one_out - leave_one_out[first]
        joint = np.where(declared, joint, np.minimum(joint, leave_one_out))
    probability = np.exp(joint - joint.max())
    return np.asarray(probability / probability.sum())


def _as_line(
    contrast: FloatArray, shift: FloatArray, space: Space, ends: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Scale and shift of y = scale · x + shift, for contrasts and shifts of a line in `space`, any shape."""
    low, high = ends
    power = POWERS[space]
    at_low, at_high = curves(np.array([[0.0, 1.0]]), contrast[None], np.array([power]))[0].T + shift
    if power:
        at_low, at_high = (np.exp(np.clip(power * at, -_MAX_LOG_Y, _MAX_LOG_Y)) for at in (at_low, at_high))
    scale = (at_high - at_low) / (high - low)
    return scale, at_low - scale * low


def _range(stated: tuple[float, float] | None, x: FloatArray) -> tuple[float, float]:
    """The typical range of the field; that of the readings' `x` (K,) where it is not known."""
    low, high = stated or (0.0, 0.0)
    least, most = float(x.min()), float(x.max())
    return (low, high) if high - low > _TYPICAL * (most - least) else (least, most)


def _average_curve(found: list[Relation], grid: _Grid, low: float, high: float) -> DepthCurve:
    """Log depth at the knots, averaged over all relations and contrasts by their probabilities."""
    x = low + (high - low) * _KNOTS
    u, power = np.stack([r.u(x, low, high) for r in found]), np.array([r.power for r in found])
    weight = grid.probability[:, None] * grid.weight
    each = curves(u, grid.contrast, power) + grid.shift[:, :, None]
    log_depth = weight.ravel() @ each.reshape(weight.size, x.size)
    probabilities: dict[str, float] = {}
    for relation, probability in zip(found, grid.probability, strict=True):
        probabilities[relation.name] = probabilities.get(relation.name, 0.0) + float(probability)
    return DepthCurve(x, log_depth, probabilities)


IMPLEMENTATION = Evidence
