"""The gate `consensus_learned` for a batch of frames on a device.

The model with relative depth and the one without are computed side by side, and chosen between at the end: what a
frame needs is known on the device alone. Readings beyond 160 are dealt into groups, as in the reference: the first
finds shift and amplitude, the others, which are judged all at once, begin there.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mrac.gate.consensus import _KEPT_ALONE
from mrac.gate.consensus.support import FULL_EVIDENCE, GAIN, LARGE, LEAST, PER_GAIN, SPREAD, UNSPREAD
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gpu.classifier import BatchClassifier, ModelResult
from mrac.gpu.dealing import Dealt, group_table, num_groups
from mrac.gpu.foundation import constant
from mrac.gpu.hypotheses import BatchHypotheses, found_shift
from mrac.gpu.mixture import ModelInput, Models, make_models, repeated_values
from mrac.gpu.padded import covered_area, least, median_of, most
from mrac.relative import LOG_REACH
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
        max_anchors: the most readings of a frame.
        max_dense: readings of a group that may lie in dense clusters; of more, the others are judged as if they did
            not. The reference has no such bound.
    """

    members: Tensor

    def __init__(self, max_anchors: int, max_dense: int) -> None:
        super().__init__()
        self.gate, self.max_dense = ConsensusLearned(), max_dense
        self.hypotheses, self.classifier = BatchHypotheses(self.gate), BatchClassifier(self.gate)
        constant(self, "members", group_table(max_anchors), torch.int16)

    def forward(self, given: GateInput) -> GateOutput:
        """Judges every reading of every frame."""
        z_m, x, features, local_range, valid = given
        num, dealt = valid.sum(dim=1), self._dealt(valid)
        middle = median_of(x, valid)
        trend = torch.minimum(torch.maximum(x, middle - LOG_REACH), middle + LOG_REACH)
        features_GB, log_z_GB = dealt.groups(features), dealt.groups(z_m).log()
        models, error = self._models(dealt, z_m, trend, features_GB, repeated_values(z_m, valid))
        result, compared = self._results(models, error, len(dealt.valid))
        related, bare = (ModelResult(*(part[:, i].flatten(0, 1) for part in result)) for i in (0, 1))
        flat = (most(x, valid) - least(x, valid))[:, 0] <= (1e-9 * most(x.abs(), valid)[:, 0]).clamp(min=1e-30)
        first = ModelResult(*(part[0, 0] for part in result))
        uses = (self._supported(features_GB[0], first, compared, dealt.valid[0], num) & ~flat) | (num < _FEWEST)
        ends = [
            torch.minimum(torch.maximum(e, middle - LOG_REACH), middle + LOG_REACH) - trend
            for e in local_range.unbind(2)
        ]
        around = dealt.groups(torch.stack(ends, dim=2).sort(dim=2).values)
        per_group = (part.flatten(0, 1) for part in (features_GB.double(), log_z_GB, around))
        judged = self.classifier(models.take(self._with_relative(dealt.valid)), related, *per_group)
        outlier, weight, alone_inlier = (
            dealt.in_order(part.reshape(dealt.valid.shape)) for part in (*judged, bare.inlier)
        )
        return _verdict(valid, uses, num, outlier, weight, alone_inlier, self.gate.reject_from)

    def _dealt(self, valid: Tensor) -> Dealt:
        """As the reference deals readings into groups: by their number alone."""
        K = valid.shape[1]
        if num_groups(K) == 1:
            return Dealt(None, valid)
        members = self.members[: K + 1, : num_groups(K)]
        return Dealt(members[valid.sum(dim=1)].long(), valid)

    def _models(
        self, dealt: Dealt, z_m: Tensor, trend: Tensor, features_GB: Tensor, repeated: Tensor
    ) -> tuple[Models, Tensor]:
        """Of G groups, each of B frames with relative depth and then without; and (G · 2 · B, W) errors."""
        gate, G = self.gate, len(dealt.valid)
        bare = torch.cat([features_GB[..., :-1], torch.zeros_like(features_GB[..., -1:])], dim=3)
        trend_GB, z_GB = dealt.groups(trend), dealt.groups(z_m)
        trends = torch.stack([trend_GB, torch.zeros_like(trend_GB)], dim=1).flatten(0, 2)
        priors = gate.amplitude, gate.amplitude_without_relative
        amplitude = torch.cat([torch.full_like(z_m[:, 0], prior) for prior in priors]).repeat(G)
        models = make_models(
            _twice(z_GB),
            trends,
            torch.stack([features_GB, bare], dim=1).flatten(0, 2).double(),
            ModelInput(_twice(dealt.valid), _twice(dealt.groups(repeated) & dealt.valid), amplitude),
            gate,
            self.max_dense,
        )
        return models, _twice(z_GB).log() - trends

    def _results(self, models: Models, error: Tensor, G: int) -> tuple[ModelResult, ModelResult]:
        """(G, 2, B, ...) of all models; and (B, ...) of those without relative depth that they are compared with."""
        num = len(error) // G  # models of a group
        first = models.take(slice(0, num))
        found = self.hypotheses.first(first, error[:num])
        parts = [part[:num] for part in found]
        if G > 1:  # the others start from what the first group found
            shift = found_shift(error[:num], found.inlier[:num], first.valid)
            begin = (part.repeat(G - 1) for part in (shift, found.amplitude[:num]))
            others = self.hypotheses.following(models.take(slice(num, None)), error[num:], *begin)
            parts = [torch.cat(both) for both in zip(parts, others, strict=True)]
        every = ModelResult(*(part.reshape(G, 2, num // 2, *part.shape[1:]) for part in parts))
        return every, ModelResult(*(part[num:] for part in found))

    def _with_relative(self, valid_GBW: Tensor) -> Tensor | slice:
        """Which of the models have relative depth."""
        G, B, _ = valid_GBW.shape
        if G == 1:
            return slice(0, B)
        return torch.arange(G * 2 * B, device=valid_GBW.device).reshape(G, 2, B)[:, 0].flatten()

    def _supported(
        self, features_BWF: Tensor, related: ModelResult, bare: ModelResult, valid: Tensor, num: Tensor
    ) -> Tensor:
        """(B,) whether the first groups of `num` readings support relative depth; see `mrac.gate.consensus.support`."""
        few, many = FULL_EVIDENCE
        counts = ((num * (2.0 * related.share - 1.0) - few) / (many - few)).clamp(0.0, 1.0)
        unspread = (1.0 - covered_area(features_BWF[..., :2].double(), valid) / SPREAD).clamp(min=0.0)
        alone, using = (
            (torch.where(valid, result.residual.abs().clamp(max=LARGE), 0.0).sum(dim=1) / valid.sum(dim=1)).clamp(LEAST)
            for result in (bare, related)
        )
        missing = PER_GAIN * (GAIN - (alone / using).log()).clamp(min=0.0) * counts * (1.0 - unspread)
        asked = (self.gate.min_evidence * counts).clamp(max=self.gate.min_evidence)
        return related.evidence - bare.evidence >= asked + missing - UNSPREAD * unspread


def _twice(values_GBW: Tensor) -> Tensor:
    """(G · 2 · B, W): for models with relative depth and without."""
    return values_GBW[:, None].expand(-1, 2, -1, -1).flatten(0, 2)


def _verdict(
    valid: Tensor, uses: Tensor, num: Tensor, outlier: Tensor, weight: Tensor, bare: Tensor, reject_from: float
) -> GateOutput:
    """Chooses between the verdicts of the classifier and those without relative depth; few readings are all kept."""
    use = uses[:, None]
    weight = torch.where(use, weight, bare)
    keep = torch.where(use, outlier < reject_from, weight >= _KEPT_ALONE)
    outlier = torch.where(use, outlier, 1.0 - weight)
    weight = torch.where(weight <= MIN_WEIGHT, 0.0, weight)
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
