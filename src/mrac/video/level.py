"""The common error of carried readings, from how this frame's readings differ from what they predict.

Moved readings share an error, that of the motion: in log depth a level (the motion's scale is only as good as the last
frame's depth), a tilt along u and v (rotation, focal length) and a share of inverse depth (motion along the axis). A
Gaussian process conditioned on the carried readings predicts log depth at this frame's; the differences are these four
numbers' effect plus errors of known covariance, some of them of wrong readings. The level is small, or (rarely)
anything: the scene changed.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mrac.conventions import FloatArray
from mrac.gp.kernel import covariance
from mrac.robust_line.theil_sen import MAD_TO_SIGMA

_MIN_AMPLITUDE: Final = 0.02  # of the residual field, in log depth
_WRONG: Final = 0.25  # share of readings expected to be wrong, and the range of log depth they are spread over
_WRONG_RANGE: Final = 4.0
_JUMP_STD: Final = 0.5  # of δ where the scene changed
_JUMP_PROBABILITY: Final = 1e-3
_MIN_COHERENT: Final = 0.6  # share of this frame's readings that must agree on a jump, and the least number
_MIN_JUMP_READINGS: Final = 4
_ITERATIONS: Final = 8


class Drift(NamedTuple):
    """What this frame's readings say of the carried ones.

    Attributes:
        change: (4,) coefficients of `shapes`, whose sum is to be added to the log depth of the carried readings.
        var: posterior variance of the first, the level.
        jump: whether the readings agree on another level than the carried ones could have drifted to.
        ratio: size of the differences, those of wrong readings aside, in the deviations that were expected; 1 is right.
    """

    change: FloatArray
    var: float
    jump: bool
    ratio: float


def shapes(uv_px: FloatArray, z_m: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(B, 4) how an error of the motion changes log depth at B readings: level, tilt along u and v, along the axis."""
    H, W = shape
    u, v = (2.0 * uv_px.T - np.array([[W - 1], [H - 1]])) / max(H, W)
    near = np.median(z_m) / z_m if z_m.size else z_m
    return np.stack([np.ones(z_m.size), u, v, np.minimum(near, 4.0) - 1.0], axis=1)


def find_drift(
    features: FloatArray, residual: FloatArray, noise_var: FloatArray, shapes_B4: FloatArray, drift_var: float
) -> Drift:
    """Finds the common error by expectation maximisation from two starts, none and the median difference.

    Args:
        features: (B + K, F) of the carried readings and then of this frame's, as of `mrac.gp`.
        residual: (B + K,) log depth less the trend.
        noise_var: (B + K,) variances of log depth.
        shapes_B4: of the carried readings.
        drift_var: prior variance of the coefficients.
    """
    B = len(shapes_B4)
    K = residual.size - B
    if not B or not K:
        return Drift(np.zeros(4), drift_var, False, 1.0)
    middle = float(np.median(residual[:B]))
    amplitude = max(MAD_TO_SIGMA * float(np.median(np.abs(residual[:B] - middle))), _MIN_AMPLITUDE)
    total = amplitude**2 * covariance(features) + np.diag(noise_var)
    predictor = cho_solve(cho_factor(total[:B, :B], lower=True), total[:B, B:]).T
    error = residual[B:] - middle - predictor @ (residual[:B] - middle)
    spread = total[B:, B:] - predictor @ total[:B, B:]
    effect = predictor @ shapes_B4
    prior = np.full(4, drift_var)
    small = _posterior(error, spread, effect, np.zeros(4), prior)
    prior[0] = _JUMP_STD**2
    large = _posterior(error, spread, effect, np.array([np.median(error), 0.0, 0.0, 0.0]), prior)
    right = large.inlier > 0.5
    coherent = K >= _MIN_JUMP_READINGS and right.mean() >= _MIN_COHERENT
    jump = coherent and large.log_evidence + np.log(_JUMP_PROBABILITY) > small.log_evidence
    chosen = large if jump else small
    return Drift(chosen.change, chosen.var, bool(jump), _ratio(error - effect @ chosen.change, spread, chosen.inlier))


class _Found(NamedTuple):
    change: FloatArray
    var: float
    inlier: FloatArray
    log_evidence: float


def _posterior(
    error: FloatArray, spread: FloatArray, effect: FloatArray, start: FloatArray, prior_var: FloatArray
) -> _Found:
    """Coefficients (4,) under a prior of mean 0, where errors (K,) of covariance `spread` are mixed with uniform ones.

    Args:
        error: (K,) differences.
        spread: (K, K) their covariance, of right readings.
        effect: (K, 4) of the coefficients on the differences.
        start: (4,).
        prior_var: (4,).
    """
    var = np.diag(spread)
    change = start
    for _ in range(_ITERATIONS):
        off = error - effect @ change
        log_right = np.log(1.0 - _WRONG) - 0.5 * (off * off / var + np.log(2.0 * np.pi * var))
        log_any = np.logaddexp(log_right, np.log(_WRONG / _WRONG_RANGE))
        inlier = np.exp(log_right - log_any)
        # A reading that is right with probability p counts as one of variance / p.
        weighted = spread + np.diag(var * (1.0 / np.maximum(inlier, 1e-6) - 1.0))
        solved = np.linalg.solve(weighted, effect)
        precision = effect.T @ solved + np.diag(1.0 / prior_var)
        change = np.linalg.solve(precision, solved.T @ error)
    # Laplace's approximation; the correlation of errors is left out, which favours no side.
    log_volume = np.linalg.slogdet(precision * prior_var)[1]
    log_prior = -0.5 * (float((change * change / prior_var).sum()) + log_volume)
    return _Found(change, float(np.linalg.inv(precision)[0, 0]), inlier, float(log_any.sum()) + log_prior)


def _ratio(error: FloatArray, spread: FloatArray, inlier: FloatArray) -> float:
    right = inlier > 0.5
    if np.count_nonzero(right) < 3:
        return 1.0
    return float(np.median(np.abs(error[right]) / np.sqrt(np.diag(spread)[right]))) / 0.6745
