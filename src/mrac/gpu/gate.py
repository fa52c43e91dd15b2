"""The gate `consensus_learned` for a batch of frames on a device: one group of readings each.

The model with relative depth and the one without are computed side by side, and chosen between at the end: what a
frame needs is known on the device alone.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mrac.gate.consensus import (
    _FACTORS_ALONE,
    _KEPT_ALONE,
    _ROUNDS,
    _STARTS_ALONE,
    _TEMPERATURE,
    FACTORS,
)
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
from mrac.gate.consensus.support import FULL_EVIDENCE, GAIN, LARGE, LEAST, PER_GAIN, SPREAD, UNSPREAD
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gp.kernel import FINE_VAR
from mrac.gpu.classifier import BatchClassifier, ModelResult
from mrac.gpu.foundation import constant
from mrac.gpu.mixture import Models, Outcome, State, make_models
from mrac.gpu.padded import covered_area, least, median_of, most
from mrac.types import INLIER_WEIGHT, MIN_FOR_LINE, MIN_WEIGHT

_FEWEST = 3  # readings that can be judged


class GateInput(NamedTuple):
    """Padded readings of B frames.

    Attributes:
        z_m: (B, K) float64, 1 where there is none.
        x: (B, K) float64 relative log depth, 0 where there is none.
        features: (B, K, NUM_FEATURES) float32.
        local_range: (B, K, 2) float64 least and largest relative depth around each.
        valid: (B, K).
    """

    z_m: Tensor
    x: Tensor
    features: Tensor
    local_range: Tensor
    valid: Tensor


class GateOutput(NamedTuple):
    """Verdicts: (B, K) keep, weight and outlier probability, (B, K) which readings are fitted, (B,) use of x."""

    keep: Tensor
    weight: Tensor
    outlier_probability: Tensor
    for_fit: Tensor
    use_relative: Tensor


class BatchGate(nn.Module):
    """`mrac.gate.consensus_learned.ConsensusLearned` at its defaults.

    Args:
        max_dense: readings of a frame that may lie in dense clusters; of more, the others are judged as if they did
            not. The reference has no such bound.
    """

    factors: Tensor
    has_factor: Tensor
    searched: Tensor

    def __init__(self, max_dense: int) -> None:
        super().__init__()
        self.gate, self.max_dense = ConsensusLearned(), max_dense
        self.classifier = BatchClassifier(self.gate)
        alone = [*_FACTORS_ALONE, *[1.0] * (len(FACTORS) - len(_FACTORS_ALONE))]
        constant(self, "factors", np.array([FACTORS, FACTORS, alone]))
        constant(
            self,
            "has_factor",
            np.arange(len(FACTORS)) < np.array([[len(FACTORS)]] * 2 + [[len(_FACTORS_ALONE)]]),
            torch.bool,
        )
        constant(self, "searched", np.array(_SEARCHED))

    def forward(self, given: GateInput) -> GateOutput:
        """Judges every reading of every frame."""
        z_m, x, features, local_range, valid = given
        B, gate = len(z_m), self.gate
        middle = median_of(x, valid)
        trend = torch.minimum(torch.maximum(x, middle - 20.0), middle + 20.0)
        # With relative depth, and without.
        bare_features = torch.cat([features[..., :-1], torch.zeros_like(features[..., -1:])], dim=2)
        priors = gate.amplitude, gate.amplitude_without_relative
        amplitude = torch.cat([torch.full_like(z_m[:, 0], prior) for prior in priors])
        models = make_models(
            z_m.repeat(2, 1),
            torch.cat([trend, torch.zeros_like(trend)]),
            torch.cat([features, bare_features]).double(),
            valid.repeat(2, 1),
            amplitude,
            gate,
            self.max_dense,
        )
        result = self._results(models, z_m.log().repeat(2, 1) - torch.cat([trend, torch.zeros_like(trend)]), B)
        related, bare = (ModelResult(*(part[i * B : (i + 1) * B] for part in result)) for i in (0, 1))
        compared = ModelResult(*(part[2 * B :] for part in result))
        num = valid.sum(dim=1)
        flat = (most(x, valid) - least(x, valid))[:, 0] <= (1e-9 * most(x.abs(), valid)[:, 0]).clamp(min=1e-30)
        uses = (self._supported(features, related, compared, valid) & ~flat) | (num < _FEWEST)
        ends = [torch.minimum(torch.maximum(e, middle - 20.0), middle + 20.0) - trend for e in local_range.unbind(2)]
        around = torch.stack(ends, dim=2).sort(dim=2).values
        outlier, weight = self.classifier(
            models.take(torch.arange(B, device=x.device)), related, features.double(), z_m.log(), around
        )
        return _verdict(valid, uses, num, outlier, weight, bare.inlier, gate.reject_from)

    def _supported(self, features: Tensor, related: ModelResult, bare: ModelResult, valid: Tensor) -> Tensor:
        """(B,) whether the readings support relative depth; see `mrac.gate.consensus.support`."""
        few, many = FULL_EVIDENCE
        num = valid.sum(dim=1)
        counts = ((num * (2.0 * related.share - 1.0) - few) / (many - few)).clamp(0.0, 1.0)
        unspread = (1.0 - covered_area(features[..., :2].double(), valid) / SPREAD).clamp(min=0.0)
        alone, using = (
            (torch.where(valid, result.residual.abs().clamp(max=LARGE), 0.0).sum(dim=1) / num).clamp(min=LEAST)
            for result in (bare, related)
        )
        missing = PER_GAIN * (GAIN - (alone / using).log()).clamp(min=0.0) * counts * (1.0 - unspread)
        asked = (self.gate.min_evidence * counts).clamp(max=self.gate.min_evidence)
        return related.evidence - bare.evidence >= asked + missing - UNSPREAD * unspread

    def _results(self, models: Models, error_QK: Tensor, B: int) -> ModelResult:
        """Of 3 B models: with relative depth, without, and without by the few hypotheses that are compared."""
        found, exists = self._search(models, error_QK)
        S = exists.shape[1]
        every = torch.arange(2 * B, device=error_QK.device)
        again = torch.cat([every, every[B:]])
        num_alone = len(_SEARCHED) * (1 + _STARTS_ALONE)
        compared = torch.arange(S, device=error_QK.device) < num_alone
        exists = torch.cat([exists, exists[B:] & compared])
        inlier = torch.where(models.valid[:, None], found.state.inlier, 0.0)
        chosen, carried_on = _distinct(found.evidence[again], inlier[again], exists)
        state = State(*(_pick(part[again], chosen) for part in found.state))
        return self._averaged(models.take(again), state, carried_on)

    def _search(self, models: Models, error_QK: Tensor) -> tuple[Outcome, Tensor]:
        """Hypotheses from every start at every amplitude of the search, and (Q, S) which of them exist."""
        shifts, exists = _shifts(error_QK, models.valid, self.gate.max_starts)
        near = torch.exp(-0.5 * ((error_QK[:, None] - shifts[..., None]) / _INLIER_STD) ** 2)
        inlier = torch.cat([torch.ones_like(near[:, :1]), near], dim=1)
        temperature = torch.full_like(inlier[..., 0], _WARM)
        temperature[:, 0] = _HOT
        exists = torch.cat([torch.ones_like(exists[:, :1]), exists], dim=1)
        A, options = len(_SEARCHED), self.gate
        S = A * inlier.shape[1]
        share = options.prior_inliers / (options.prior_inliers + options.prior_outliers)
        state = State(
            amplitude=models.amplitude[:, None] * self.searched.repeat(inlier.shape[1]),
            inlier=inlier.repeat_interleave(A, dim=1),
            temperature=temperature.repeat_interleave(A, dim=1),
            share=torch.full_like(temperature, share).repeat_interleave(A, dim=1),
            kinds=(models.counts / models.counts.sum(dim=1, keepdim=True))[:, None].expand(-1, S, -1),
        )
        return models.em(state, _SEARCH_ROUNDS), exists.repeat_interleave(A, dim=1)

    def _averaged(self, models: Models, state: State, carried_on: Tensor) -> ModelResult:
        """See `mrac.gate.consensus.average_hypotheses`; (Q, S) hypotheses are carried on, where they exist."""
        options, (Q, S), A = self.gate, carried_on.shape, len(FACTORS)
        factors = self.factors.repeat_interleave(Q // 3, dim=0)
        has_factor = self.has_factor.repeat_interleave(Q // 3, dim=0)
        amplitude = models.amplitude[:, None] * factors  # (Q, A)
        log_prior = -0.5 * (factors.log() / options.amplitude_spread) ** 2
        inlier, temperature, share, kinds = (part.repeat_interleave(A, dim=1) for part in state[1:])
        state = State(amplitude.repeat(1, S), inlier, temperature.clamp(max=_TEMPERATURE), share, kinds)
        out = models.em(state, _ROUNDS)
        exists = carried_on[:, :, None] & has_factor[:, None]
        evidence = torch.where(exists, out.evidence.reshape(Q, S, A) + log_prior[:, None], -torch.inf)
        without = torch.where(has_factor, models.evidence_without_outliers(amplitude) + log_prior, -torch.inf)
        best, start = evidence.max(dim=1)
        rows = A * start + torch.arange(A, device=start.device)  # (Q, A)
        weight = torch.softmax(best, dim=1)
        log_odds = best.logsumexp(dim=1) - without.logsumexp(dim=1)
        clean = torch.sigmoid(-(log_odds + math.log(1.0 / options.prior_clean - 1.0)).clamp(-50.0, 50.0))[:, None]
        top = rows.gather(1, best.argmax(dim=1, keepdim=True))
        residual, var = (_pick(part, top)[:, 0] for part in (out.residual, out.var))
        at = out.state.amplitude.gather(1, top)
        field_var = var - (options.noise * at) ** 2
        num = has_factor.sum(dim=1).log()
        plain = torch.logaddexp((best - log_prior).logsumexp(dim=1), (without - log_prior).logsumexp(dim=1))
        return ModelResult(
            inlier=clean + (1.0 - clean) * (weight[..., None] * _pick(out.state.inlier, rows)).sum(dim=1),
            residual=residual,
            std=var.sqrt(),
            explained=(1.0 - field_var / (at**2 * (1.0 + FINE_VAR))).clamp(0.0, 1.0),
            amplitude=at[:, 0],
            share=out.state.share.gather(1, top)[:, 0],
            log_odds=log_odds,
            evidence=plain - num,
        )


def _pick(values: Tensor, which: Tensor) -> Tensor:
    """`values` (Q, S, ...) of the hypotheses `which` (Q, n)."""
    index = which.reshape(*which.shape, *([1] * (values.dim() - 2))).expand(-1, -1, *values.shape[2:])
    return values.gather(1, index)


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
        apart = (inlier - _pick(inlier, best)).abs().amax(dim=2)
        left = torch.where(apart > _DISTINCT, left, -torch.inf)
    return torch.cat(chosen, dim=1), torch.cat(exist, dim=1)


def _verdict(
    valid: Tensor, uses: Tensor, num: Tensor, outlier: Tensor, weight: Tensor, bare: Tensor, reject_from: float
) -> GateOutput:
    """Chooses between the verdicts of the classifier and those without relative depth; few readings are all kept."""
    use = uses[:, None]
    weight = torch.where(use, weight, bare)
    keep = torch.where(use, outlier < reject_from, weight >= _KEPT_ALONE)
    weight = torch.where(weight <= MIN_WEIGHT, 0.0, weight)
    outlier = torch.where(use, outlier, 1.0 - weight)
    for_fit = valid & (weight >= INLIER_WEIGHT)
    few = for_fit.sum(dim=1, keepdim=True) < MIN_FOR_LINE
    for_fit = for_fit | (few & valid & keep & (weight > 0.0))
    unjudged = (num[:, None] < _FEWEST) | ~for_fit.any(dim=1, keepdim=True)
    return GateOutput(
        keep=valid & (keep | unjudged),
        weight=torch.where(valid, torch.where(unjudged, 1.0, weight), 0.0),
        outlier_probability=torch.where(valid, torch.where(unjudged, 0.0, outlier), 1.0),
        for_fit=torch.where(unjudged, valid, for_fit),
        use_relative=uses,
    )
