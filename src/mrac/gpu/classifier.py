"""The classifier of the gate `consensus_learned` for a batch of frames on a device, and its inputs."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mrac.gate.consensus.classifier import (
    _AGREE,
    _MAX_LOG_RATIO,
    _MIN_PROBABILITY,
    _MIN_SIGMA,
    _NEAREST,
    MAX_STD,
    load_classifier,
    near_object,
)
from mrac.gate.consensus.model import _MIN_VAR
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gpu.foundation import constant
from mrac.gpu.linear_algebra import Blocks, inverse, leave_one_out
from mrac.gpu.mixture import Models
from mrac.gpu.padded import mean_of, median_of
from mrac.gpu.process import distances, position_distances
from mrac.robust_line.theil_sen import MAD_TO_SIGMA


class ModelResult(NamedTuple):
    """The mixture model's result: inlier, residual, std, explained (Q, K); of the best hypothesis the rest (Q,)."""

    inlier: Tensor
    residual: Tensor
    std: Tensor
    explained: Tensor
    amplitude: Tensor
    share: Tensor
    log_odds: Tensor
    evidence: Tensor


class Nearest(NamedTuple):
    """(Q, K, N) the nearest others of each reading, the nearest first, and which of them exist."""

    which: Tensor
    there: Tensor

    def of(self, values: Tensor) -> Tensor:
        """(Q, K, N) their values."""
        return values[:, None].expand(-1, values.shape[1], -1).gather(2, self.which)


class BatchClassifier(nn.Module):
    """From the mixture model's results to outlier probability and weight; see `mrac.gate.consensus.classifier`."""

    mean_: Tensor
    std_: Tensor
    own_: Tensor
    own_bias_: Tensor
    all_: Tensor
    all_bias_: Tensor
    share_: Tensor
    hidden_: Tensor
    hidden_bias_: Tensor
    out_: Tensor

    def __init__(self, gate: ConsensusLearned) -> None:
        super().__init__()
        weights = load_classifier(gate.weights)
        self.names, self.gate = [str(name) for name in weights.names], gate
        for name, values in zip(weights._fields[1:], weights[1:], strict=True):
            constant(self, f"{name}_", values)

    def forward(
        self, models: Models, result: ModelResult, features_BKF: Tensor, log_z: Tensor, around: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, K) outlier probability and weight.

        Args:
            models: of B frames, with relative depth.
            result: of these.
            features_BKF: float64.
            log_z: (B, K).
            around: (B, K, 2) least and largest log depth around each reading, relative to its own.
        """
        features = reading_features(models, result, features_BKF, log_z, around)
        inlier = self.gate.model_weight * features["model_logit"].clamp(max=0.0)
        inlier = inlier + self.gate.near_object_odds * near_object(features)
        inputs = torch.stack([features[name].expand_as(log_z) for name in self.names], dim=2)
        scaled = ((inputs - self.mean_) / self.std_).clamp(-MAX_STD, MAX_STD)
        seen = (scaled @ self.all_ + self.all_bias_).clamp(min=0.0) * models.valid[..., None]
        scene = (seen.sum(dim=1) / models.num.clamp(min=1.0)) @ self.share_
        first = (scaled @ self.own_ + self.own_bias_ + scene[:, None]).clamp(min=0.0)
        second = (first @ self.hidden_ + self.hidden_bias_).clamp(min=0.0)
        outlier, weight = (second @ self.out_[:-1] + self.out_[-1]).unbind(2)
        return tuple(torch.sigmoid(odds.clamp(-50.0, 50.0)) for odds in (outlier - inlier, weight + inlier))  # type: ignore[return-value]


def reading_features(
    models: Models, result: ModelResult, features_BKF: Tensor, log_z: Tensor, around: Tensor
) -> dict[str, Tensor]:
    """The inputs of the classifier by name, (B, K) or (B, 1) each."""
    error, valid = models.error, models.valid
    apart = distances(features_BKF, features_BKF)
    similar, near = (_nearest(d, valid) for d in (apart, position_distances(features_BKF[..., :2])))
    residual, var, far_residual, far_var = _leave_one_and_neighbours_out(models, result, similar)
    inlier = result.inlier.clamp(_MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    low, high = around.clamp(-2.0, 2.0).unbind(2)
    trend = log_z - error
    return {
        "model_logit": (inlier / (1.0 - inlier)).log(),
        "model_z_score": (result.residual / result.std).asinh(),
        "z_score": (residual / var.sqrt()).asinh(),
        "far_z_score": (far_residual / far_var.sqrt()).asinh(),
        "residual": _clipped(residual),
        "far_residual": _clipped(far_residual),
        "neighbour_effect": _clipped(far_residual - residual),
        "explained": result.explained,
        "far_log_std": 0.5 * far_var.log(),
        "field": _clipped(error - residual),
        "edge_high": high,
        "edge_low": low,
        "residual_to_high": _clipped(residual - high),
        "residual_to_low": _clipped(residual - low),
        "trend": _clipped(trend - median_of(trend, valid)),
        "reading": _clipped(log_z - median_of(log_z, valid)),
        "repeated": models.repeated.double(),
        "nearest_distance": (apart.gather(2, similar.which[:, :, :1])[..., 0] + 0.02).log(),
        **_theil_sen(trend, log_z, valid),
        **_neighbours("similar", error, result.inlier, similar),
        **_neighbours("near", error, result.inlier, near),
        "amplitude": result.amplitude[:, None].log(),
        "inlier_share": result.share[:, None],
        "log_odds": result.log_odds[:, None].asinh(),
        "count": models.num.clamp(min=1.0).log(),
        "mean_outlier": 1.0 - mean_of(result.inlier, valid),
    }


def _clipped(log_ratio: Tensor) -> Tensor:
    return log_ratio.clamp(-_MAX_LOG_RATIO, _MAX_LOG_RATIO)


def _nearest(apart: Tensor, valid: Tensor) -> Nearest:
    itself = torch.eye(apart.shape[1], dtype=torch.bool, device=apart.device)
    others = torch.where(valid[:, None] & ~itself, apart, torch.inf)
    num = min(_NEAREST, apart.shape[1])
    ordered = others.sort(dim=2, stable=True)  # of equals the first, as the reference
    return Nearest(ordered.indices[..., :num], ordered.values[..., :num] < torch.inf)


def _leave_one_and_neighbours_out(
    models: Models, result: ModelResult, similar: Nearest
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(B, K) leave-one-out residual and its variance; then the same with its nearest left out too."""
    total, weighted, noise_var = models.covariance(result.amplitude[:, None], result.inlier[:, None])
    inverted = inverse(total)
    residual, var, solved = leave_one_out(inverted, models.error[:, None])
    own = torch.arange(total.shape[-1], device=total.device).expand(len(total), -1)
    members = torch.cat([similar.which, own[..., None]], dim=2)
    there = torch.cat([similar.there, torch.ones_like(similar.there[..., :1])], dim=2)
    blocks = Blocks.of(own, members, there, total.shape[-1])
    far_residual, far_var = blocks.leave_out(inverted, solved)
    own_var, far_var = ((v - weighted).clamp(min=_MIN_VAR) + noise_var for v in (var, far_var))
    return residual[:, 0], own_var[:, 0], far_residual[:, 0], far_var[:, 0]


def _theil_sen(x: Tensor, y: Tensor, valid: Tensor) -> dict[str, Tensor]:
    """Residuals around the Theil–Sen line in log depth: the paper's gate."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], 1, device=x.device)
    run = x[:, j] - x[:, i]
    slope = median_of((y[:, j] - y[:, i]) / run, valid[:, i] & valid[:, j] & (run != 0.0))
    residual = y - slope * x
    residual = residual - median_of(residual, valid)
    spread = (residual - median_of(residual, valid)).abs()
    sigma = (MAD_TO_SIGMA * median_of(spread, valid)).clamp(min=_MIN_SIGMA)
    return {
        "theil_sen_z_score": (residual / sigma).asinh(),
        "theil_sen_residual": _clipped(residual),
        "theil_sen_log_sigma": sigma.log(),
    }


def _neighbours(name: str, error: Tensor, inlier: Tensor, nearest: Nearest) -> dict[str, Tensor]:
    """How a reading's error compares with its neighbours', and whether those are inliers: one outlier, or a group."""
    others, of_others, there = nearest.of(error), nearest.of(inlier), nearest.there
    num = there.sum(dim=2).clamp(min=1)

    def mean(values: Tensor) -> Tensor:
        return torch.where(there, values, 0.0).sum(dim=2) / num

    difference = error[..., None] - others
    weight = torch.where(there, of_others + 0.02, 0.0)
    middle = mean(others)
    return {
        f"{name}_difference": _clipped((weight * difference).sum(dim=2) / weight.sum(dim=2)),
        f"{name}_least": torch.where(there, difference.abs(), torch.inf).amin(dim=2).clamp(max=1.0),
        f"{name}_inlier": mean(of_others),
        f"{name}_spread": mean((others - middle[..., None]) ** 2).sqrt().clamp(max=2.0),
        f"{name}_agree": mean(torch.exp(-0.5 * (difference / _AGREE) ** 2)),
    }
