"""Posterior of the Gaussian process over image-sized sets of points: mean and explained variance, compiled."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gp.kernel import BIAS_VAR, FINE, FINE_VAR, NUM_FEATURES, two_scales
from mrac.runtime.jit import fast_kernel, kernel

assert FINE == 5.0, "_covariances raises exp(−s) to this power by multiplication"
_CHUNK: Final = 512  # points at a time: their covariances with 64 anchors stay in the L2 cache


class Observations(NamedTuple):
    """What the process is conditioned on: residuals at K anchors.

    Attributes:
        features: (K, NUM_FEATURES) float32, divided by their length scales.
        noise_var: (K,) noise variances, in units of the amplitude's square.
        residuals: (K,).
    """

    features: NDArray[np.float32]
    noise_var: FloatArray
    residuals: FloatArray


class Posterior(NamedTuple):
    """The process conditioned on K observations, ready for prediction.

    Attributes:
        features: (K, NUM_FEATURES) float32, divided by their length scales.
        weights: (K,) float32, the covariance's inverse times the residuals.
        whitener: (K or K + 1, K) float32 lower triangle, the inverse of the covariance's Cholesky factor, with a row of
            zeros where that makes the number of rows even. Of means over areas (`mrac.gp.areas`) it has fewer rows than
            columns, and is full.
    """

    features: NDArray[np.float32]
    weights: NDArray[np.float32]
    whitener: NDArray[np.float32]


@fast_kernel
def _covariances(squares: NDArray[np.float32]) -> None:
    """Turns squared distances into covariances, in place.

    exp(−s) is taken as exp(−s/16)^16 with a polynomial on [0, 1.5] (Chebyshev interpolation, relative error 4e-8),
    which becomes vector code where a call of exp would not; beyond s = 24 the covariance is under 1e-9 and held there.
    The first three squares are of 1 + m without the 1, m (2 + m), so that rounding does not grow sixteenfold: between
    near points, whose weights all but cancel each other, that was a ten-thousandth of the depth with 1000 readings.
    """
    for p in range(squares.size):
        s = np.sqrt(np.float32(3.0) * squares[p])
        t = min(s, np.float32(24.0)) * np.float32(0.0625)
        t2 = t * t
        low = t2 * (np.float32(0.499987817) - np.float32(0.166600796) * t) - np.float32(0.999999136) * t
        high = np.float32(0.0414901335) - np.float32(0.00807251081) * t
        high += t2 * (np.float32(0.0011691494) - np.float32(9.51982931e-05) * t)
        m = low + t2 * t2 * high
        m += m + m * m
        m += m + m * m
        m += m + m * m
        e = np.float32(1.0) + m
        e *= e
        e2 = e * e
        fine = e2 * e2 * e  # exp(−FINE · s)
        coarse = e + s * e  # `two_scales`, expanded: in single precision, and for the vectoriser
        squares[p] = coarse + np.float32(FINE_VAR) * (fine + np.float32(FINE) * s * fine) + np.float32(BIAS_VAR)


@kernel
def posterior(observations: Observations) -> tuple[Posterior, float]:
    """Conditions the process on K observations.

    Returns:
        The posterior, and the residuals' squared Mahalanobis length, from which the amplitude follows in closed form.
    """
    features, noise_var, residuals = observations
    K = features.shape[0]
    covariance = np.empty((K, K))
    for i in range(K):
        for j in range(i + 1):
            d2 = 0.0
            for f in range(NUM_FEATURES):
                d2 += (features[i, f] - features[j, f]) ** 2
            s = math.sqrt(3.0 * d2)
            covariance[i, j] = two_scales(s, math.exp(-s), math.exp(-FINE * s))
            covariance[j, i] = covariance[i, j]
        covariance[i, i] += noise_var[i]
    lower = np.linalg.cholesky(covariance)
    whitener = np.zeros((K + K % 2, K))
    for i in range(K):
        for k in range(i):
            for j in range(k + 1):
                whitener[i, j] -= lower[i, k] * whitener[k, j]
        for j in range(i):
            whitener[i, j] /= lower[i, i]
        whitener[i, i] = 1.0 / lower[i, i]
    weights = np.zeros(K)
    length2 = 0.0
    for i in range(K):
        white = 0.0
        for j in range(i + 1):
            white += whitener[i, j] * residuals[j]
        length2 += white * white
        for j in range(i + 1):
            weights[j] += whitener[i, j] * white
    return Posterior(features, weights.astype(np.float32), whitener.astype(np.float32)), length2


class ShiftFreeProcess:
    """The process at K readings, around trends of log depth whose shift is unknown and integrated out.

    Args:
        features: (K, NUM_FEATURES) float32.
        log_z: (K,) log readings.
        noise_var: (K,) in units of the amplitude's square.

    Attributes:
        log_z: (K,).
        shift_var: variance of the shift of a given trend, in units of the amplitude's square.
    """

    def __init__(self, features: NDArray[np.float32], log_z: FloatArray, noise_var: FloatArray) -> None:
        self.log_z = log_z
        self._whitener = (
            posterior(Observations(features, noise_var, log_z))[0].whitener[: log_z.size].astype(np.float64)
        )
        ones = self._whitener.sum(axis=1)
        self.shift_var = 1.0 / float(ones @ ones)
        self._per_shift = ones * self.shift_var
        # Whitens, and projects out the shift.
        self._whitener_left = self._whitener - np.outer(ones, self._per_shift @ self._whitener)
        self._precision = (self._whitener_left**2).sum(axis=0)

    def whitened_residual(self, trend: FloatArray) -> FloatArray:
        """(..., K) whitened residual of the readings around a trend (..., K) at its best shift."""
        return np.asarray((self.log_z - trend) @ self._whitener_left.T)

    def shift(self, trend: FloatArray) -> FloatArray:
        """(...,) the best shift of a trend (..., K)."""
        return np.asarray((self.log_z - trend) @ (self._per_shift @ self._whitener))

    def leave_one_out(self, whitened: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(..., K) residual of each reading given trend, shift and process of the others, and (K,) its variance.

        Args:
            whitened: (..., K) from `whitened_residual`.

        Returns:
            The variance in units of the amplitude's square. From the precision matrix (Rasmussen & Williams 2006,
            eqs. 5.10–5.12), the unknown shift being part of the covariance.
        """
        return np.asarray((whitened @ self._whitener_left) / self._precision), 1.0 / self._precision


@fast_kernel
def _fill_covariances(
    points: NDArray[np.float32], start: int, anchors: NDArray[np.float32], cov: NDArray[np.float32], n: int
) -> None:
    """Covariances of the n points from `start` with K anchors, into the first n columns of `cov` (K, >= n)."""
    # One-dimensional slices of rows, here and below: numba knows those to lie close together and not to wrap round, and
    # only then does a loop vectorise; `points[0, start + p]` costs ten times as much.
    stop = start + n
    p0, p1, p2 = points[0, start:stop], points[1, start:stop], points[2, start:stop]
    p3, p4, p5 = points[3, start:stop], points[4, start:stop], points[5, start:stop]
    p6, p7 = points[6, start:stop], points[7, start:stop]
    for k in range(anchors.shape[0]):
        row = cov[k, :n]
        a0, a1, a2, a3 = anchors[k, 0], anchors[k, 1], anchors[k, 2], anchors[k, 3]
        a4, a5, a6, a7 = anchors[k, 4], anchors[k, 5], anchors[k, 6], anchors[k, 7]
        for p in range(n):
            x0, x1, x2, x3 = p0[p] - a0, p1[p] - a1, p2[p] - a2, p3[p] - a3
            x4, x5, x6, x7 = p4[p] - a4, p5[p] - a5, p6[p] - a6, p7[p] - a7
            row[p] = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5 + x6 * x6 + x7 * x7
        _covariances(row)


@fast_kernel
def _add_squares(rows: NDArray[np.float32], m: int, weights: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Adds to `out` (n,) the squares of both combinations, `weights` (2, >= m), of the first m `rows` (>= m, >= n).

    Two outputs by four inputs at a time: six loads feed eight multiply-adds, where one by one would spend two on each.
    """
    n = out.size
    first = np.zeros(n, np.float32)
    second = np.zeros(n, np.float32)
    j = 0
    while j + 4 <= m:
        u0, u1, u2, u3 = weights[0, j], weights[0, j + 1], weights[0, j + 2], weights[0, j + 3]
        v0, v1, v2, v3 = weights[1, j], weights[1, j + 1], weights[1, j + 2], weights[1, j + 3]
        c0, c1, c2, c3 = rows[j, :n], rows[j + 1, :n], rows[j + 2, :n], rows[j + 3, :n]
        for p in range(n):
            first[p] += u0 * c0[p] + u1 * c1[p] + u2 * c2[p] + u3 * c3[p]
            second[p] += v0 * c0[p] + v1 * c1[p] + v2 * c2[p] + v3 * c3[p]
        j += 4
    while j < m:
        u0, v0, c0 = weights[0, j], weights[1, j], rows[j, :n]
        for p in range(n):
            first[p] += u0 * c0[p]
            second[p] += v0 * c0[p]
        j += 1
    for p in range(n):
        out[p] += first[p] * first[p] + second[p] * second[p]


@fast_kernel
def segment(
    points: NDArray[np.float32],
    start: int,
    post: Posterior,
    scratch: NDArray[np.float32],
    mean: NDArray[np.float32],
    explained: NDArray[np.float32],
) -> None:
    """Posterior mean and explained variance of n consecutive points.

    Args:
        points: (NUM_FEATURES, P) scaled features.
        start: the first of the points wanted.
        post: of K observations.
        scratch: (>= K, >= n), overwritten.
        mean: (n,), overwritten.
        explained: (n,), overwritten.
    """
    K, n = post.features.shape[0], mean.size
    _fill_covariances(points, start, post.features, scratch, n)
    for p in range(n):
        mean[p] = np.float32(0.0)
        explained[p] = np.float32(0.0)
    for k in range(K):
        row, w = scratch[k, :n], post.weights[k]
        for p in range(n):
            mean[p] += w * row[p]
    for i in range(0, post.whitener.shape[0], 2):
        m = min(i + 2, K) if post.whitener.shape[0] >= K else K
        _add_squares(scratch, m, post.whitener[i : i + 2], explained)


@fast_kernel
def predict(
    points: NDArray[np.float32],
    start: int,
    stop: int,
    post: Posterior,
    mean: NDArray[np.float32],
    explained: NDArray[np.float32],
) -> None:
    """Writes posterior mean and explained variance of points [start, stop) of (NUM_FEATURES, P) into (P,) arrays.

    In units of the amplitude; the posterior variance is PRIOR_VAR − explained.
    """
    cov = np.empty((post.features.shape[0], _CHUNK), np.float32)
    for s in range(start, stop, _CHUNK):
        n = min(_CHUNK, stop - s)
        segment(points, s, post, cov, mean[s : s + n], explained[s : s + n])
