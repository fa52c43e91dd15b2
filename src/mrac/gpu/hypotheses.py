"""Hypotheses of the gate `consensus` for a batch of models on a device: searched for, carried on and averaged."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from mrac.gate.consensus import _FACTORS_ALONE, _FOLLOWING_ROUNDS, _ROUNDS, _STARTS_ALONE, _TEMPERATURE, FACTORS
from mrac.gate.consensus.initialisation import (
    _APART,
    _CARRIED_ON,
    _DISTINCT,
    _HOPELESS,
    _HOT,
    _INLIER_STD,
    _SEARCH_ROUNDS,
    _SEARCHED,
    _VOTE_STD,
    _WARM,
)
from mrac.gate.consensus.model import MixtureOptions
from mrac.gp.kernel import FINE_VAR
from mrac.gpu.classifier import ModelResult
from mrac.gpu.foundation import constant
from mrac.gpu.kernels import em as em_kernel
from mrac.gpu.kernels import hypotheses as kernels
from mrac.gpu.kernels.source import in_use
from mrac.gpu.mixture import Models, Outcome, State
from mrac.gpu.padded import median_of, taken


class BatchHypotheses(nn.Module):
    """`mrac.gate.consensus.average_hypotheses` and the search before it.

    Args:
        options: of the mixture.
    """

    factors: Tensor
    has_factor: Tensor
    searched: Tensor

    def __init__(self, options: MixtureOptions) -> None:
        super().__init__()
        self.options = options
        alone = [*_FACTORS_ALONE, *[1.0] * (len(FACTORS) - len(_FACTORS_ALONE))]
        constant(self, "factors", np.array([FACTORS, FACTORS, alone]))
        num = np.array([[len(FACTORS)]] * 2 + [[len(_FACTORS_ALONE)]])
        constant(self, "has_factor", np.arange(len(FACTORS)) < num, torch.bool)
        constant(self, "searched", np.array(_SEARCHED))

    def first(self, models: Models, error_QK: Tensor) -> ModelResult:
        """Of 3 B results for 2 B models: with relative depth, without, and without by the few that are compared.

        Args:
            models: of the first groups of B frames with relative depth, then without.
            error_QK: log readings less trends.
        """
        B = len(error_QK) // 2
        every = torch.arange(2 * B, device=error_QK.device)
        again = torch.cat([every, every[B:]])
        num_alone = len(_SEARCHED) * (1 + _STARTS_ALONE)
        factors, has_factor = (part.repeat_interleave(B, dim=0) for part in (self.factors, self.has_factor))
        if in_use():
            begun, exists = kernels.starts(models, error_QK, self.searched)
            found = _em(models, State(*begun), exists, every, _SEARCH_ROUNDS)
            tables = self.factors, self.has_factor
            carried = kernels.distinct(found, exists, models, again, tables, num_alone)
            return _averaged_by_kernels(models, carried, again, factors, _ROUNDS)
        found, exists = self._search(models, error_QK)
        compared = torch.arange(exists.shape[1], device=error_QK.device) < num_alone
        exists = torch.cat([exists, exists[B:] & compared])
        inlier = torch.where(models.valid[:, None], found.state.inlier, 0.0)
        chosen, carried_on = _distinct(found.evidence[again], inlier[again], exists)
        state = State(*(taken(part[again], chosen) for part in found.state))
        return self._averaged(models.take(again), state, carried_on, (factors, has_factor), _ROUNDS)

    def following(self, models: Models, error_QK: Tensor, shift_Q: Tensor, amplitude_Q: Tensor) -> ModelResult:
        """Of groups that begin at the shift and amplitude that the first group of their frame found."""
        inlier = torch.exp(-0.5 * ((error_QK - shift_Q[:, None]) / _INLIER_STD) ** 2)
        one = torch.ones_like(shift_Q)[:, None]
        state = self._begun(models, amplitude_Q[:, None], inlier[:, None], one)
        exists = torch.ones_like(one, dtype=torch.bool)
        factor = (amplitude_Q / models.amplitude)[:, None]
        if in_use():
            carried = kernels.Carried(exists, state.amplitude, exists, list(state))
            every = torch.arange(len(shift_Q), device=error_QK.device)
            return _averaged_by_kernels(models, carried, every, factor, _FOLLOWING_ROUNDS)
        return self._averaged(models, state, exists, (factor, exists), _FOLLOWING_ROUNDS)

    def _begun(self, models: Models, amplitude: Tensor, inlier: Tensor, temperature: Tensor) -> State:
        options, S = self.options, temperature.shape[1]
        share = options.prior_inliers / (options.prior_inliers + options.prior_outliers)
        kinds = (models.counts / models.counts.sum(dim=1, keepdim=True))[:, None].expand(-1, S, -1)
        return State(amplitude, inlier, temperature, torch.full_like(temperature, share), kinds)

    def _search(self, models: Models, error_QK: Tensor) -> tuple[Outcome, Tensor]:
        """Hypotheses from every start at every amplitude of the search, and (Q, S) which of them exist."""
        shifts, exists = _shifts(error_QK, models.valid, self.options.max_starts)
        near = torch.exp(-0.5 * ((error_QK[:, None] - shifts[..., None]) / _INLIER_STD) ** 2)
        inlier = torch.cat([torch.ones_like(near[:, :1]), near], dim=1)
        temperature = torch.full_like(inlier[..., 0], _WARM)
        temperature[:, 0] = _HOT
        exists = torch.cat([torch.ones_like(exists[:, :1]), exists], dim=1)
        A = len(_SEARCHED)
        state = self._begun(
            models,
            models.amplitude[:, None] * self.searched.repeat(inlier.shape[1]),
            inlier.repeat_interleave(A, dim=1),
            temperature.repeat_interleave(A, dim=1),
        )
        return models.em(state, _SEARCH_ROUNDS), exists.repeat_interleave(A, dim=1)

    def _averaged(
        self, models: Models, state: State, carried_on: Tensor, amplitudes: tuple[Tensor, Tensor], num_rounds: int
    ) -> ModelResult:
        """See `mrac.gate.consensus.average_hypotheses`.

        Args:
            models: Q of them.
            state: of S hypotheses each.
            carried_on: (Q, S) which of these exist.
            amplitudes: (Q, A) relative to the prior ones, and which of them are tried.
            num_rounds: of EM.
        """
        (factors, has_factor), options = amplitudes, self.options
        (Q, S), A = carried_on.shape, factors.shape[1]
        amplitude = models.amplitude[:, None] * factors  # (Q, A)
        log_prior = -0.5 * (factors.log() / options.amplitude_spread) ** 2
        inlier, temperature, share, kinds = (part.repeat_interleave(A, dim=1) for part in state[1:])
        state = State(amplitude.repeat(1, S), inlier, temperature.clamp(max=_TEMPERATURE), share, kinds)
        out = models.em(state, num_rounds)
        exists = carried_on[:, :, None] & has_factor[:, None]
        evidence = torch.where(exists, out.evidence.reshape(Q, S, A) + log_prior[:, None], -torch.inf)
        without = torch.where(has_factor, models.evidence_without_outliers(amplitude) + log_prior, -torch.inf)
        best, start = evidence.max(dim=1)
        rows = A * start + torch.arange(A, device=start.device)  # (Q, A)
        weight = torch.softmax(best, dim=1)
        log_odds = best.logsumexp(dim=1) - without.logsumexp(dim=1)
        clean = torch.sigmoid(-(log_odds + math.log(1.0 / options.prior_clean - 1.0)).clamp(-50.0, 50.0))[:, None]
        top = rows.gather(1, best.argmax(dim=1, keepdim=True))
        residual, var = (taken(part, top)[:, 0] for part in (out.residual, out.var))
        at = out.state.amplitude.gather(1, top)
        field_var = var - (options.noise * at) ** 2
        num = has_factor.sum(dim=1).log()
        plain = torch.logaddexp((best - log_prior).logsumexp(dim=1), (without - log_prior).logsumexp(dim=1))
        return ModelResult(
            inlier=clean + (1.0 - clean) * (weight[..., None] * taken(out.state.inlier, rows)).sum(dim=1),
            residual=residual,
            std=var.sqrt(),
            explained=(1.0 - field_var / (at**2 * (1.0 + FINE_VAR))).clamp(0.0, 1.0),
            amplitude=at[:, 0],
            share=out.state.share.gather(1, top)[:, 0],
            log_odds=log_odds,
            evidence=plain - num,
        )


def _em(models: Models, state: State, exists: Tensor, of: Tensor, num_rounds: int) -> Outcome:
    """`Models.em` by a kernel of our own, for hypotheses (R, S) of the models `of` (R,)."""
    *parts, evidence, residual, var = em_kernel.em(models, state, exists, of, num_rounds)
    return Outcome(State(state.amplitude, *parts), evidence, residual, var)


def _averaged_by_kernels(
    models: Models, carried: kernels.Carried, of: Tensor, factors: Tensor, num_rounds: int
) -> ModelResult:
    """`BatchHypotheses._averaged`, for rows of the models `of` (R,) at `factors` (R, A) of their prior amplitudes."""
    out = _em(models, State(*carried.state), carried.exists, of, num_rounds)
    without = em_kernel.evidence_without_outliers(models, carried.tried_amplitude, carried.tried, of)
    return ModelResult(*kernels.average(out, carried.exists, without, carried.tried, factors, models.options))


def found_shift(error_QK: Tensor, inlier_QK: Tensor, valid_QK: Tensor) -> Tensor:
    """(Q,) the shift that other groups begin at: the median error of the likelier half of the readings."""
    likely = valid_QK & (inlier_QK >= median_of(inlier_QK, valid_QK))
    return median_of(error_QK, likely)[:, 0]


def _shifts(error: Tensor, valid: Tensor, max_starts: int) -> tuple[Tensor, Tensor]:
    """(Q, max_starts) the shifts that most readings agree on, best first, and which of them exist."""
    near = torch.exp(-0.5 * ((error[:, :, None] - error[:, None]) / _VOTE_STD) ** 2)
    votes = torch.where(valid, torch.where(valid[:, None], near, 0.0).sum(dim=2), -torch.inf)
    shifts, exist = [], []
    for _ in range(max_starts):
        most_votes, best = votes.max(dim=1, keepdim=True)
        shift = error.gather(1, best)
        exist.append(most_votes > -torch.inf)
        shifts.append(shift)
        votes = torch.where((error - shift).abs() > _APART, votes, -torch.inf)
    return torch.cat(shifts, dim=1), torch.cat(exist, dim=1)


def _distinct(evidence: Tensor, inlier: Tensor, exists: Tensor) -> tuple[Tensor, Tensor]:
    """(Q, n) the hypotheses of the highest evidence that have not converged to one, and which of these exist."""
    left = torch.where(exists, evidence, -torch.inf)
    left = torch.where(left >= left.amax(dim=1, keepdim=True) - _HOPELESS, left, -torch.inf)
    chosen, exist = [], []
    for _ in range(_CARRIED_ON):
        highest, best = left.max(dim=1, keepdim=True)
        chosen.append(best)
        exist.append(highest > -torch.inf)
        apart = (inlier - taken(inlier, best)).abs().amax(dim=2)
        left = torch.where(apart > _DISTINCT, left, -torch.inf)
    return torch.cat(chosen, dim=1), torch.cat(exist, dim=1)
