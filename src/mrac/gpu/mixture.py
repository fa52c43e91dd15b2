"""The mixture model of the gate `consensus` for a batch of models on a device; see `mrac.gate.consensus.model`."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from mrac.gate.consensus.model import (
    _ANYWHERE,
    _CLUSTER_RADIUS,
    _COOLING,
    _DENSE,
    _FAR,
    _FLOOR,
    _KIND_COUNTS,
    _MAX_LEFT_OUT,
    _MIN_INLIER,
    _MIN_VAR,
    _NEAR,
    _SENTINEL,
    _SENTINEL_ALONE,
    _SENTINEL_COUNT,
    _SENTINEL_SHARE,
    _SHIFT_STD,
    PER_TENTH_MILLIMETRE,
    MixtureOptions,
)
from mrac.gp.kernel import BIAS_VAR
from mrac.gpu.linear_algebra import Blocks, inverse, leave_one_out
from mrac.gpu.padded import least, mean_of, median_of, most, sum_of
from mrac.gpu.process import position_distances, process_covariance, student_t_log_density


class State(NamedTuple):
    """Hypotheses between rounds of EM: amplitude, temperature, share (Q, S), inlier (Q, S, K), kinds (Q, S, C)."""

    amplitude: Tensor
    inlier: Tensor
    temperature: Tensor
    share: Tensor
    kinds: Tensor


class Outcome(NamedTuple):
    """Hypotheses after EM: log evidence (Q, S), residuals and variances (Q, S, K)."""

    state: State
    evidence: Tensor
    residual: Tensor
    var: Tensor


class Models(NamedTuple):
    """Q models of K padded readings each, all around one trend of their own.

    Attributes:
        smooth: (Q, K, K) covariance of the process, in units of the amplitude's square.
        common: (Q, K, K) of shift and slope.
        error: (Q, K) log reading less trend, less the median of that.
        in_range: (Q, K) density of an outlier anywhere in the range of the readings.
        sentinel: (Q, K) and of one of a repeated value.
        repeated: (Q, K) whether a value is repeated in its frame.
        counts: (Q, C) Dirichlet prior of the kinds; 0 for a sentinel where no value is repeated.
        valid: (Q, K).
        amplitude: (Q,) the mode of its prior.
        blocks: readings in dense clusters.
        dense: (Q, D) which of the blocks' readings are in one.
        options: of the mixture.
    """

    smooth: Tensor
    common: Tensor
    error: Tensor
    in_range: Tensor
    sentinel: Tensor
    repeated: Tensor
    counts: Tensor
    valid: Tensor
    amplitude: Tensor
    blocks: Blocks
    dense: Tensor
    options: MixtureOptions

    @property
    def num(self) -> Tensor:
        """(Q, 1) number of readings."""
        return self.valid.sum(dim=1, keepdim=True).double()

    def take(self, which: Tensor | slice) -> "Models":
        """The models of these numbers; copies of them, but for a slice."""
        blocks = Blocks(*(part[which] for part in self.blocks))
        tensors = {name: part[which] for name, part in self._asdict().items() if isinstance(part, Tensor)}
        return self._replace(blocks=blocks, **tensors)  # type: ignore[arg-type]

    def covariance(self, amplitude: Tensor, inlier: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(Q, S, K, K) of the readings, the noise (Q, S, K) that is in it, and that of an inlier (Q, S, 1)."""
        noise_var = ((self.options.noise * amplitude) ** 2)[..., None]
        weighted = noise_var / inlier.clamp(min=_MIN_INLIER)
        total = (amplitude**2)[..., None, None] * self.smooth[:, None] + self.common[:, None]
        return total + torch.diag_embed(torch.where(self.valid[:, None], weighted, 1.0)), weighted, noise_var

    def leave_one_out(self, amplitude: Tensor, inlier: Tensor) -> tuple[Tensor, Tensor]:
        """(Q, S, K) residual of each reading given the others, and its variance if it is an inlier."""
        total, weighted, noise_var = self.covariance(amplitude, inlier)
        inverted = inverse(total)
        residual, var, solved = leave_one_out(inverted, self.error[:, None].expand_as(inlier))
        if self.blocks.which.shape[1]:
            far_residual, far_var = self.blocks.leave_out(inverted, solved)
            which = self.blocks.which[:, None].expand_as(far_var)
            dense = self.dense[:, None]
            residual = residual.scatter(2, which, torch.where(dense, far_residual, residual.gather(2, which)))
            var = var.scatter(2, which, torch.where(dense, far_var, var.gather(2, which)))
        return residual, (var - weighted).clamp(min=_MIN_VAR) + noise_var

    def em(self, state: State, num_rounds: int) -> Outcome:
        """Rounds of EM; see `MixtureModel.em`."""
        amplitude, inlier, temperature, share, kinds = state
        options, num, counts = self.options, self.num, self.counts[:, None]
        for _ in range(num_rounds):
            residual, var = self.leave_one_out(amplitude, inlier)
            spread = var * temperature[..., None]
            is_inlier = share[..., None] * student_t_log_density(residual, spread, options.dof).exp()
            of_kinds = kinds[..., None] * self._outlier_densities(residual)
            is_outlier = of_kinds.sum(dim=2)
            density = is_inlier + (1.0 - share)[..., None] * is_outlier
            inlier = is_inlier / density
            outlier = torch.where(self.valid[:, None], (1.0 - inlier) / is_outlier, 0.0)
            count = (of_kinds * outlier[:, :, None]).sum(dim=3)
            kinds = (count + counts) / (count + counts).sum(dim=2, keepdim=True)
            known = num + options.prior_inliers + options.prior_outliers
            share = (sum_of(inlier, self.valid[:, None])[..., 0] + options.prior_inliers) / known
            temperature = (temperature * _COOLING).clamp(min=1.0)
        log_prior = options.prior_inliers * share.log() + options.prior_outliers * torch.log1p(-share)
        log_prior = log_prior + torch.xlogy(counts, torch.where(counts > 0.0, kinds, 1.0)).sum(dim=2)
        log_prior = log_prior + options.majority_penalty * (share - options.majority).clamp(max=0.0)
        evidence = sum_of(density.log(), self.valid[:, None])[..., 0] + log_prior
        return Outcome(State(amplitude, inlier, temperature, share, kinds), evidence, residual, var)

    def evidence_without_outliers(self, amplitude: Tensor) -> Tensor:
        """(Q, S) log evidence of hypotheses without outliers; see `MixtureModel.evidence_without_outliers`."""
        options, num, counts = self.options, self.num, self.counts
        every = torch.ones_like(self.error)[:, None].expand(-1, amplitude.shape[1], -1)
        residual, var = self.leave_one_out(amplitude, every)
        share = (num + options.prior_inliers) / (num + options.prior_inliers + options.prior_outliers)
        log_prior = (num + options.prior_inliers) * share.log() + options.prior_outliers * torch.log1p(-share)
        each = sum_of(student_t_log_density(residual, var, options.dof), self.valid[:, None])[..., 0]
        shares = torch.where(counts > 0.0, counts / counts.sum(dim=1, keepdim=True), 1.0)
        return each + log_prior + torch.xlogy(counts, shares).sum(dim=1, keepdim=True)

    def _outlier_densities(self, residual: Tensor) -> Tensor:
        """(Q, S, C, K)."""
        uniform = [_uniform(residual, *limits) for limits in (_NEAR, _FAR, (-_ANYWHERE, _ANYWHERE))]
        in_range, sentinel = (part[:, None].expand_as(residual) for part in (self.in_range, self.sentinel))
        return torch.stack([uniform[0], uniform[1], in_range, uniform[2], sentinel], dim=2)


def _uniform(residual: Tensor, low: float, high: float) -> Tensor:
    inside = ((residual > low) & (residual < high)).to(residual.dtype)
    return _FLOOR + (1.0 / (high - low) - _FLOOR) * inside


class ModelInput(NamedTuple):
    """What is known of Q models beside their readings; see `Models`."""

    valid: Tensor
    repeated: Tensor
    amplitude: Tensor


def make_models(
    z_m: Tensor, trend: Tensor, features_QKF: Tensor, known: ModelInput, options: MixtureOptions, max_dense: int
) -> Models:
    """Models of (Q, K) readings around trends (Q, K); see `Models`, and `MixtureModel` for what is meant."""
    valid, repeated, amplitude = known
    log_z = z_m.log()
    error = log_z - trend
    contrast = torch.where(valid, trend - mean_of(trend, valid), 0.0)
    here = valid.double()
    both = here[:, :, None] * here[:, None]
    smooth = (process_covariance(features_QKF, features_QKF) - BIAS_VAR) * both
    common = _SHIFT_STD**2 * both + options.slope_std**2 * contrast[:, :, None] * contrast[:, None]
    nearest, farthest = least(z_m, valid), most(z_m, valid)
    # Filled in one by one: a list would be copied from the host, which a recording cannot hold.
    counts = torch.stack([torch.full_like(here[:, 0], count) for count in _KIND_COUNTS], dim=1)
    counts[:, -1] *= repeated.any(dim=1)
    blocks, dense = dense_clusters(features_QKF[..., :2], valid, max_dense)
    return Models(
        smooth=smooth,
        common=common,
        error=torch.where(valid, error - median_of(error, valid), 0.0),
        in_range=z_m / torch.maximum(farthest - nearest, 1e-3 * farthest),
        sentinel=_FLOOR + (_SENTINEL - _FLOOR) * repeated.double(),
        repeated=repeated,
        counts=counts,
        valid=valid,
        amplitude=amplitude,
        blocks=blocks,
        dense=dense,
        options=options,
    )


def repeated_values(z_m: Tensor, valid: Tensor) -> Tensor:
    """(B, K) whether a reading's value, to a tenth of a millimetre, occurs so often that it may be a sentinel."""
    rounded = (z_m * PER_TENTH_MILLIMETRE).round()
    ordered = torch.where(valid, rounded, torch.inf).sort(dim=1).values

    def num_between(low: Tensor, high: Tensor) -> Tensor:
        return torch.searchsorted(ordered, high, right=True) - torch.searchsorted(ordered, low)

    same = num_between(rounded, rounded)
    times, within = _SENTINEL_ALONE
    similar = num_between(rounded * (1.0 - within), rounded * (1.0 + within)) - same
    enough = (_SENTINEL_SHARE * valid.sum(dim=1, keepdim=True)).clamp(min=_SENTINEL_COUNT)
    return (same >= enough) & (same > times * similar) & valid


def dense_clusters(positions_QK2: Tensor, valid: Tensor, max_dense: int) -> tuple[Blocks, Tensor]:
    """Readings in places where readings are dense, up to `max_dense`, and (Q, D) which of these there are."""
    K = valid.shape[1]
    apart = position_distances(positions_QK2)
    apart = torch.where(valid[:, None] & valid[:, :, None], apart, torch.inf)
    count = (apart < _CLUSTER_RADIUS).sum(dim=2)
    spans = torch.stack([(most(part, valid) - least(part, valid))[:, 0] for part in positions_QK2.unbind(2)])
    times, more = _DENSE
    limit = times * valid.sum(dim=1) * (math.pi * _CLUSTER_RADIUS**2) / spans.prod(dim=0).clamp(min=1e-3) + more
    dense = valid & (count > limit[:, None])
    D, M = min(max_dense, K), min(_MAX_LEFT_OUT, K)
    which = dense.int().sort(dim=1, descending=True, stable=True).indices[:, :D]
    own = which[:, :, None]
    of_dense = apart.gather(1, own.expand(-1, -1, K)).scatter(2, own, -1.0)  # each is its own nearest
    members = of_dense.sort(dim=2, stable=True).indices[..., :M]  # of equals the first, as the reference
    there = torch.arange(M, device=valid.device) < count.gather(1, which)[:, :, None].clamp(min=1)
    return Blocks.of(which, members.flip(2), there.flip(2), K), dense.gather(1, which)
