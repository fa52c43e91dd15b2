"""The common error of carried readings, from how this frame's readings differ from what they predict.

Moved readings share an error: the motion's scale is only as good as the last frame's depth. It is one number of log
depth, δ. A Gaussian process conditioned on the carried readings predicts log depth at this frame's; the differences are
δ plus errors of known covariance, some of them of wrong readings. δ is small, or (rarely) anything: the scene changed.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mrac.conventions import FloatArray
from mrac.gp.kernel import covariance

_MIN_AMPLITUDE: Final = 0.02  # of the residual field, in log depth
_WRONG: Final = 0.25  # share of readings expected to be wrong, and the range of log depth they are spread over
_WRONG_RANGE: Final = 4.0
_JUMP_STD: Final = 0.5  # of δ where the scene changed
_JUMP_PROBABILITY: Final = 1e-3
_MIN_COHERENT: Final = 0.6  # share of this frame's readings that must agree on a jump, and the least number
_MIN_JUMP_READINGS: Final = 4
_ITERATIONS: Final = 8


class Level(NamedTuple):
    """What this frame's readings say of the carried ones.

    Attributes:
        change: δ, to be added to the log depth of the carried readings.
        var: its posterior variance.
        jump: whether the readings agree on another level than the carried ones could have drifted to.
        ratio: size of the differences, those of wrong readings aside, in the deviations that were expected; 1 is right.
    """

    change: float
    var: float
    jump: bool
    ratio: float


def find_level(
    features: FloatArray, residual: FloatArray, noise_var: FloatArray, num_carried: int, drift_var: float
) -> Level:
    """Finds δ by expectation maximisation from two starts, no change and the median difference.

    Args:
        features: (B + K, F) of the carried readings and then of this frame's, as of `mrac.gp`.
        residual: (B + K,) log depth less the trend.
        noise_var: (B + K,) variances of log depth.
        num_carried: B.
        drift_var: prior variance of δ.
    """
    B, K = num_carried, residual.size - num_carried
    if not B or not K:
        return Level(0.0, drift_var, False, 1.0)
    middle = float(np.median(residual[:B]))
    amplitude = max(1.4826 * float(np.median(np.abs(residual[:B] - middle))), _MIN_AMPLITUDE)
    total = amplitude**2 * covariance(features) + np.diag(noise_var)
    factor = cho_factor(total[:B, :B], lower=True)
    error = residual[B:] - middle - total[B:, :B] @ cho_solve(factor, residual[:B] - middle)
    spread = total[B:, B:] - total[B:, :B] @ cho_solve(factor, total[:B, B:])
    small = _posterior(error, spread, 0.0, drift_var)
    large = _posterior(error, spread, float(np.median(error)), _JUMP_STD**2)
    right = large.inlier > 0.5
    coherent = K >= _MIN_JUMP_READINGS and right.mean() >= _MIN_COHERENT
    jump = coherent and large.log_evidence + np.log(_JUMP_PROBABILITY) > small.log_evidence
    chosen = large if jump else small
    return Level(chosen.change, chosen.var, jump, _ratio(error - chosen.change, spread, chosen.inlier))


class _Found(NamedTuple):
    change: float
    var: float
    inlier: FloatArray
    log_evidence: float


def _posterior(error: FloatArray, spread: FloatArray, start: float, prior_var: float) -> _Found:
    """δ under a prior of mean 0, where errors (K,) of covariance `spread` are mixed with uniform ones."""
    var = np.diag(spread)
    change, ones = start, np.ones(error.size)
    for _ in range(_ITERATIONS):
        off = error - change
        log_right = np.log(1.0 - _WRONG) - 0.5 * (off * off / var + np.log(2.0 * np.pi * var))
        log_any = np.logaddexp(log_right, np.log(_WRONG / _WRONG_RANGE))
        inlier = np.exp(log_right - log_any)
        # A reading that is right with probability p counts as one of variance / p.
        weighted = spread + np.diag(var * (1.0 / np.maximum(inlier, 1e-6) - 1.0))
        solved = np.linalg.solve(weighted, np.stack([ones, error], axis=1))
        precision = float(ones @ solved[:, 0]) + 1.0 / prior_var
        change = float(ones @ solved[:, 1]) / precision
    # Laplace's approximation; the correlation of errors is left out, which favours no side.
    log_prior = -0.5 * (change * change / prior_var + np.log(prior_var * precision))
    return _Found(change, 1.0 / precision, inlier, float(log_any.sum()) + log_prior)


def _ratio(error: FloatArray, spread: FloatArray, inlier: FloatArray) -> float:
    right = inlier > 0.5
    if np.count_nonzero(right) < 3:
        return 1.0
    return float(np.median(np.abs(error[right]) / np.sqrt(np.diag(spread)[right]))) / 0.6745
