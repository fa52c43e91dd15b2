"""EM of the mixture model, compiled: hypotheses are independent of each other, and each goes through all its rounds."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gp.linear_algebra import Blocks, Scratch, leave_block_out, leave_one_out, scratch
from mrac.runtime.jit import fast_kernel


class Numbers(NamedTuple):
    """Options and constants of the mixture; see `model`."""

    noise: float
    dof: float
    log_t: float
    prior_inliers: float
    prior_outliers: float
    majority: float
    majority_penalty: float
    shift_var: float
    slope_var: float
    near: tuple[float, float]
    far: tuple[float, float]
    anywhere: float
    floor: float
    min_inlier: float
    min_var: float
    cooling: float


class Problem(NamedTuple):
    """K readings around S trends, with all that stays the same from round to round.

    Attributes:
        smooth: (K, K) covariance of the process, in units of the amplitude's square.
        contrast: (S, K) of the trends.
        error: (S, K) log readings less the trends.
        in_range: (K,) density of outliers within the range of the readings.
        sentinel: (K,) the same of a value that many readings share.
        kind_counts: (C,) Dirichlet prior of the kinds of outliers.
        clusters: readings that are compared with those outside their cluster.
        numbers: options and constants.
    """

    smooth: FloatArray
    contrast: FloatArray
    error: FloatArray
    in_range: FloatArray
    sentinel: FloatArray
    kind_counts: FloatArray
    clusters: Blocks
    numbers: Numbers


class Rows(NamedTuple):
    """H hypotheses, or the rows of one: updated by EM.

    Attributes:
        inlier: (H, K) inlier probabilities.
        temperature: (H,).
        share: (H,) of inliers.
        kinds: (H, C) share of each kind among the outliers.
        evidence: (H,) log evidence.
        residual: (H, K) leave-one-out residuals.
        var: (H, K) their variance if the reading is an inlier.
        densities: (H, C, K) density of each kind of outlier, times its share.
    """

    inlier: FloatArray
    temperature: FloatArray
    share: FloatArray
    kinds: FloatArray
    evidence: FloatArray
    residual: FloatArray
    var: FloatArray
    densities: FloatArray


@fast_kernel
def left_out(
    problem: Problem, s: int, amplitude: float, inlier: FloatArray, work: Scratch, residual: FloatArray, var: FloatArray
) -> None:
    """(K,) residual of each reading around the trend `s` given the others, and its variance if it is an inlier.

    Of a reading in a cluster, given those outside it.
    """
    numbers, K = problem.numbers, inlier.size
    amplitude_var = amplitude * amplitude
    noise_var = numbers.noise * numbers.noise * amplitude_var
    contrast, shift_var = problem.contrast[s], numbers.shift_var
    for i in range(K):
        row, smooth, per_contrast = work.matrix[i, : i + 1], problem.smooth[i, : i + 1], numbers.slope_var * contrast[i]
        for j in range(i + 1):
            row[j] = amplitude_var * smooth[j] + shift_var + per_contrast * contrast[j]
        row[i] += noise_var / max(inlier[i], numbers.min_inlier)
        work.error[i] = problem.error[s, i]
    leave_one_out(work, K, residual, var)
    start, members = problem.clusters
    for b in range(start.size - 1):
        block = members[start[b] : start[b + 1]]
        residual[block[0]], var[block[0]] = leave_block_out(work, block)
    for i in range(K):
        weighted = noise_var / max(inlier[i], numbers.min_inlier)
        var[i] = max(var[i] - weighted, numbers.min_var) + noise_var


@fast_kernel
def outlier_densities(problem: Problem, i: int, residual: float, out: FloatArray) -> None:
    """(C,) density of ln z of each kind of outlier at reading i, whose residual is against the field of the others."""
    numbers = problem.numbers
    near, far = numbers.near, numbers.far
    floor = numbers.floor
    out[0] = 1.0 / (near[1] - near[0]) if near[0] < residual < near[1] else floor
    out[1] = 1.0 / (far[1] - far[0]) if far[0] < residual < far[1] else floor
    out[2] = problem.in_range[i]
    out[3] = 0.5 / numbers.anywhere if abs(residual) < numbers.anywhere else floor
    if out.size > 4:
        out[4] = problem.sentinel[i]


@fast_kernel
def _expect(problem: Problem, row: Rows, temperature: float, count: FloatArray) -> float:
    """Updates the inlier probabilities of one hypothesis (`row`), from residuals and shares; returns the log density.

    `count` (C,) becomes the expected number of outliers of each kind.
    """
    dof, log_t, share = problem.numbers.dof, problem.numbers.log_t, row.share[0]
    density_of = np.empty(count.size)
    count[:] = 0.0
    log_density = 0.0
    for i in range(row.inlier.shape[1]):
        scale2 = row.var[0, i] * temperature * ((dof - 2.0) / dof)
        tail = math.log1p(row.residual[0, i] ** 2 / (dof * scale2))
        is_inlier = share * math.exp(log_t - 0.5 * (dof + 1.0) * tail) / math.sqrt(scale2)
        outlier_densities(problem, i, row.residual[0, i], density_of)
        is_outlier = 0.0
        for c in range(count.size):
            row.densities[0, c, i] = row.kinds[0, c] * density_of[c]
            is_outlier += row.densities[0, c, i]
        density = is_inlier + (1.0 - share) * is_outlier
        row.inlier[0, i] = is_inlier / density
        for c in range(count.size):
            count[c] += row.densities[0, c, i] / is_outlier * (1.0 - row.inlier[0, i])
        log_density += math.log(density)
    return log_density


@fast_kernel
def run(problem: Problem, which: NDArray[np.intp], amplitude: FloatArray, num_rounds: int, rows: Rows) -> None:
    """Rounds of EM on H hypotheses `rows`, of the trends `which` (H,) at the amplitudes (H,)."""
    numbers, counts, K = problem.numbers, problem.kind_counts, rows.inlier.shape[1]
    inliers, outliers = numbers.prior_inliers, numbers.prior_outliers
    work, count = scratch(K, problem.clusters.start.size - 1), np.empty(counts.size)
    for h in range(which.size):
        row = Rows(
            rows.inlier[h : h + 1],
            rows.temperature[h : h + 1],
            rows.share[h : h + 1],
            rows.kinds[h : h + 1],
            rows.evidence[h : h + 1],
            rows.residual[h : h + 1],
            rows.var[h : h + 1],
            rows.densities[h : h + 1],
        )
        log_density = 0.0
        for _ in range(num_rounds):
            left_out(problem, which[h], amplitude[h], row.inlier[0], work, row.residual[0], row.var[0])
            log_density = _expect(problem, row, rows.temperature[h], count)
            rows.kinds[h] = (count + counts) / (count.sum() + counts.sum())
            rows.share[h] = (row.inlier[0].sum() + inliers) / (K + inliers + outliers)
            rows.temperature[h] = max(1.0, rows.temperature[h] * numbers.cooling)
        # With the priors of the shares, and a penalty on minorities: 40 % of the readings that are wrong by one factor
        # must not win because they agree with each other a little better than the others do.
        share = rows.share[h]
        log_prior = inliers * math.log(share) + outliers * math.log1p(-share) + (np.log(rows.kinds[h]) * counts).sum()
        rows.evidence[h] = log_density + log_prior + numbers.majority_penalty * min(share - numbers.majority, 0.0)


@fast_kernel
def log_densities_of_inliers(problem: Problem, which: NDArray[np.intp], amplitude: FloatArray, out: FloatArray) -> None:
    """(H,) log density of all readings as inliers, for the trends `which` (H,) at the amplitudes (H,)."""
    dof, log_t, K = problem.numbers.dof, problem.numbers.log_t, problem.error.shape[1]
    work, every = scratch(K, problem.clusters.start.size - 1), np.ones(K)
    residual, var = np.empty(K), np.empty(K)
    for h in range(which.size):
        left_out(problem, which[h], amplitude[h], every, work, residual, var)
        out[h] = 0.0
        for i in range(K):
            scale2 = var[i] * ((dof - 2.0) / dof)
            tail = math.log1p(residual[i] ** 2 / (dof * scale2))
            out[h] += log_t - 0.5 * math.log(scale2) - 0.5 * (dof + 1.0) * tail


@fast_kernel
def left_one_out(
    problem: Problem, s: int, amplitude: float, inlier: FloatArray, residual: FloatArray, var: FloatArray
) -> None:
    """As `left_out`, for one hypothesis."""
    left_out(problem, s, amplitude, inlier, scratch(inlier.size, problem.clusters.start.size - 1), residual, var)
