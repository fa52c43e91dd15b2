"""Our fit: how relative depth relates to depth is judged by the readings, and what they leave open a prior decides."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from mrac.conventions import FloatArray
from mrac.curve import Curve
from mrac.fit._process import Process
from mrac.fit._relations import POWERS, Prior, Relation, curves, relations
from mrac.fit.base import Fit, y_per_log_depth
from mrac.gp.student_t import log_density
from mrac.options import check_numbers
from mrac.space import Space
from mrac.types import FitResult, Samples

_MOST: Final = 160  # readings that are heard: more of them say no more of a curve with two unknowns
_ZOOMS: Final = 3  # rounds, each on the part of the last one's grid that matters
_POINTS: Final = 17  # of a grid
_MATTERS: Final = 9.0  # in log probability below the best
_WIDEST: Final = 4.0  # standard deviations of the prior
_TYPICAL: Final = 0.1  # of the readings' range, that of a field must be to be called typical of it
_FINITE: Final = 50.0  # of ln y: no scene comes near, and squares stay finite
# Knots of the curve, in shares of the field's range. The logarithm of a line bends most where the line all but reaches
# zero, at an end; beyond the ends the curve is all but straight.
_INSIDE: Final = np.geomspace(1e-4, 0.5, 40)
_OUTSIDE: Final = np.geomspace(0.02, 40.0, 12)
_KNOTS: Final = np.concatenate([-_OUTSIDE[::-1], [0.0], _INSIDE, 1.0 - _INSIDE[-2::-1], [1.0], 1.0 + _OUTSIDE])


class _Grid(NamedTuple):
    """R relations at G contrasts each.

    Attributes:
        u: (R, K) the readings' relative values, as each relation reads them.
        contrast: (R, G).
        weight: (R, G) probability of each contrast, where the relation is the right one.
        shift: (R, G) the best shift.
        belief: (R,) probability of each relation.
    """

    u: FloatArray
    contrast: FloatArray
    weight: FloatArray
    shift: FloatArray
    belief: FloatArray


@dataclass(frozen=True, kw_only=True)
class Evidence(Fit):
    """ln z = relation(x) + g + noise: the relations of `_relations`, blended by leave-one-out evidence.

    g is the smooth error of the foundation, the Gaussian process of gate and head; its amplitude is integrated out. The
    contrast of each relation is known beforehand but for a deviation, so one reading gives the field's own contrast,
    two a compromise, many what they say. Where the readings speak clearly for a space, or a direction, other than the
    declared one, that one is believed. The defaults were set on the training pack.

    The line of the result is that of the space asked for; its curve is the blend.

    Attributes:
        slope_std: relative deviation of the field's own contrast: of the slope, in log depth.
        contrast: median contrast of ln z over a scene, where the field's own says nothing.
        contrast_std: deviation of its logarithm.
        prior_unshifted: probability that a field of depth, or of inverse depth, has no shift.
        prior_undeclared: probability that a field is not what it is declared to be.
        amplitude: prior standard deviation of g.
        prior_anchors: how many readings that amplitude counts for.
        noise: standard deviation of a reading as a share of the amplitude.
        doubt: variance, as a share of the amplitude's, that a reading of weight w has (1 − w) times more.
        tail: degrees of freedom of Student's distribution of a reading around what the others say.
    """

    has_prior: ClassVar[bool] = True
    robust: ClassVar[bool] = False

    slope_std: float = 0.2
    contrast: float = 2.0
    contrast_std: float = 0.8
    prior_unshifted: float = 0.8
    prior_undeclared: float = 0.001
    amplitude: float = 0.2
    prior_anchors: float = 4.0
    noise: float = 0.5
    doubt: float = 0.02
    tail: float = 5.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e6, only=("amplitude", "prior_anchors", "noise", "doubt"))
        check_numbers(self, 1e-4, 10.0, only=("slope_std", "contrast", "contrast_std"))
        check_numbers(self, 1e-9, 0.9999, only=("prior_unshifted", "prior_undeclared"))
        check_numbers(self, 2.1, 1e3, only=("tail",))

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; two samples are enough."""
        used = np.zeros(x.size, np.bool_)
        used[np.random.default_rng(0).permutation(x.size)[:_MOST]] = True
        used[[x.argmin(), x.argmax()]] = True  # a curve is told by its ends
        heard = samples.keep(used, np.maximum(samples.weight, 1e-3))
        low, high = _range(samples.x_range, x)
        prior = Prior(self.slope_std, self.contrast, self.contrast_std, self.prior_unshifted, self.prior_undeclared)
        found = relations(samples.space, samples.native, low, high, prior)
        process = Process(heard, (low, high), self._noise_var(heard))
        grid = self._weigh(process, found, np.stack([r.u(x[used], low, high) for r in found]))
        declared = sum(float(b) for b, r in zip(grid.belief, found, strict=True) if r.declared)
        line, covariance, sigma = self._line(process, found, grid, samples, (low, high))
        status = "undeclared_relation" if samples.native and declared < 0.5 and line[0] > 0.0 else "ok"
        return FitResult(*line, covariance, sigma, used, status, _blend(found, grid, low, high))

    def _noise_var(self, samples: Samples) -> FloatArray:
        """(K,) in units of the amplitude's variance, as in the kriging head."""
        var = self.noise**2 + self.doubt * (1.0 - samples.weight)
        if samples.noise_m is not None:
            var += np.minimum(samples.noise_m / samples.z_m / self.amplitude, 1e6) ** 2
        return np.asarray(var / samples.weight)

    def _amplitude_var(self, length2: FloatArray, num: int) -> FloatArray:
        return np.asarray((self.prior_anchors * self.amplitude**2 + length2) / (self.prior_anchors + num - 1))

    def _weigh(self, process: Process, found: list[Relation], u_RK: FloatArray) -> _Grid:
        """What the readings say of each contrast, and of each relation."""
        R, K = u_RK.shape
        power = np.array([r.power for r in found])[:, None, None]
        low, high = np.full((2, R), [[-_WIDEST], [_WIDEST]])
        for zoom in range(_ZOOMS):
            at = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _POINTS)
            contrast = np.stack([r.contrasts(a) for r, a in zip(found, at, strict=True)])
            shape = curves(u_RK[:, None], contrast[:, :, None], power)
            left = process.left_over(shape)
            # The amplitude has an inverse-gamma prior, the shift a flat one: both are integrated out.
            length2 = (left * left).sum(axis=2)
            log_p = -0.5 * (self.prior_anchors + K - 1) * np.log(self._amplitude_var(length2, K)) - 0.5 * at**2
            matters = log_p > log_p.max(axis=1, keepdims=True) - _MATTERS
            if zoom < _ZOOMS - 1:
                step, rows = (high - low) / (_POINTS - 1), np.arange(R)
                first, last = matters.argmax(axis=1), _POINTS - 1 - matters[:, ::-1].argmax(axis=1)
                low, high = at[rows, first] - step, at[rows, last] + step
        best = log_p.max(axis=1, keepdims=True)
        weight = np.exp(log_p - best)
        together = best[:, 0] + np.log(weight.sum(axis=1) * (high - low))
        weight /= weight.sum(axis=1, keepdims=True)
        each = self._by_others(process, left, self._amplitude_var(length2, K), weight)
        return _Grid(u_RK, contrast, weight, process.shift(shape), _beliefs(found, together, each))

    def _by_others(
        self, process: Process, left: FloatArray, amplitude_var: FloatArray, weight: FloatArray
    ) -> FloatArray:
        """(R,) leave-one-out evidence, the contrast (R, G) being what the others alone would make of it."""
        error, var = process.without_one(left)
        density = log_density(error, var * amplitude_var[:, :, None], self.tail)
        # p(z_k | the others) is the harmonic mean, over the contrasts that all readings together believe.
        least = density.min(axis=1, keepdims=True)
        inverse = np.einsum("rg,rgk->rk", weight, np.exp(np.maximum(least - density, -300.0)))
        return np.asarray((least[:, 0] - np.log(inverse)).sum(axis=1))

    def _line(
        self, process: Process, found: list[Relation], grid: _Grid, samples: Samples, ends: tuple[float, float]
    ) -> tuple[tuple[float, float], FloatArray, float]:
        """(scale, shift), their covariance and the deviation around them, of the likeliest line in the space asked."""
        space = samples.space
        which = max(
            (i for i, r in enumerate(found) if r.space == space and not r.of_log), key=lambda i: float(grid.belief[i])
        )
        weight, contrast, shift = grid.weight[which], grid.contrast[which], grid.shift[which]
        mean = np.array([weight @ contrast]), np.array([weight @ shift])
        at = curves(grid.u[which], mean[0], np.array(POWERS[space])) + mean[1]
        error = process.log_z - at
        scale, level = (float(v[0]) for v in _as_line(*mean, space, ends))
        lines = np.stack(_as_line(contrast, shift, space, ends)) - np.array([[scale], [level]])
        left = process.left_over(at)
        amplitude_var = float(self._amplitude_var(np.array(left @ left), at.size))
        per_shift = np.array([0.0, 1.0] if space == "log_depth" else [POWERS[space] * scale, POWERS[space] * level])
        covariance = (lines * weight) @ lines.T + amplitude_var * process.shift_var * np.outer(per_shift, per_shift)
        sigma = math.sqrt(float(self._amplitude_var(error @ error, at.size)))
        return (scale, level), covariance, sigma * y_per_log_depth(float(np.median(samples.y)), space)


def _beliefs(found: list[Relation], together: FloatArray, each: FloatArray) -> FloatArray:
    """(R,) probability of each relation, from the log evidence of all readings `together` and of `each` by the others.

    What a field is not declared to be must win on both counts. The first alone falls for a few readings that stray, the
    second is blind where readings lie so dense that neighbours explain each other whatever the trend.
    """
    declared = np.array([r.declared for r in found])
    prior = np.log([r.probability for r in found])
    together, each = together + prior, each + prior
    if declared.any():
        first = np.where(declared, together, -np.inf).argmax()
        together, each = together - together[first], each - each[first]
        together = np.where(declared, together, np.minimum(together, each))
    belief = np.exp(together - together.max())
    return np.asarray(belief / belief.sum())


def _as_line(
    contrast: FloatArray, shift: FloatArray, space: Space, ends: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Scale and shift of y = scale · x + shift, for contrasts and shifts of a line in `space`, any shape."""
    low, high = ends
    power = POWERS[space]
    at_low, at_high = (curves(np.array(u), contrast, np.array(power)) + shift for u in (0.0, 1.0))
    if power:
        at_low, at_high = (np.exp(np.clip(power * at, -_FINITE, _FINITE)) for at in (at_low, at_high))
    scale = (at_high - at_low) / (high - low)
    return scale, at_low - scale * low


def _range(stated: tuple[float, float] | None, x: FloatArray) -> tuple[float, float]:
    """From where to where the field typically is; as far as the readings' `x` (K,) reach, where that is not known."""
    low, high = stated or (0.0, 0.0)
    least, most = float(x.min()), float(x.max())
    return (low, high) if high - low > _TYPICAL * (most - least) else (least, most)


def _blend(found: list[Relation], grid: _Grid, low: float, high: float) -> Curve:
    """Log depth at the knots, averaged over all relations and contrasts by what is believed of them."""
    x = low + (high - low) * _KNOTS
    log_depth = np.zeros(x.size)
    for i, relation in enumerate(found):
        u = relation.u(x, low, high)
        each = curves(u, grid.contrast[i][:, None], np.array(relation.power)) + grid.shift[i][:, None]
        log_depth += grid.belief[i] * (grid.weight[i] @ each)
    beliefs: dict[str, float] = {}
    for relation, belief in zip(found, grid.belief, strict=True):
        beliefs[relation.name] = beliefs.get(relation.name, 0.0) + float(belief)
    return Curve(x, log_depth, beliefs)


IMPLEMENTATION = Evidence
