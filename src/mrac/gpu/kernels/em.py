"""EM of the mixture model in one kernel: every hypothesis through all its rounds."""

import math
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor

from mrac.gate.consensus import model as reference
from mrac.gpu.kernels.small_matrices import tiling_of
from mrac.gpu.kernels.source import WARP, Source, Value, start

if TYPE_CHECKING:
    from mrac.gpu.mixture import Models, State

_SUMS: Final = len(reference.KINDS) + 2  # over the readings, in every round


def em(models: "Models", state: "State", exists: Tensor, of: Tensor, num_rounds: int) -> list[Tensor]:
    """`Models.em` of the hypotheses (R, S) that exist; of the others all results are 0.

    Args:
        models: Q of them.
        state: hypotheses (R, S, ...), whose amplitude is kept.
        exists: (R, S) bool.
        of: (R,) int64, the model of each row.
        num_rounds: of EM, at least 1.

    Returns:
        Inlier, temperature, share, kinds, evidence, residual and variance.
    """
    new = torch.empty_like
    written = [new(part) for part in (state.inlier, state.temperature, state.share, state.kinds, state.share)]
    written += [new(state.inlier), new(state.inlier)]
    _run("em", models, (of, exists, *state), written, num_rounds)
    return written


def evidence_without_outliers(models: "Models", amplitude: Tensor, exists: Tensor, of: Tensor) -> Tensor:
    """(R, A) `Models.evidence_without_outliers` at those amplitudes (R, A) that exist; 0 at the others."""
    out = torch.empty_like(amplitude)
    _run("evidence_without_outliers", models, (of, exists, amplitude), [out], 0)
    return out


def _run(name: str, models: "Models", state: tuple[Tensor, ...], written: list[Tensor], num_rounds: int) -> None:
    (R, S), K = state[1].shape, models.error.shape[1]
    D, M = models.blocks.members.shape[1:]
    tiling = tiling_of(K)
    source = Source.of("em.cu", name, {**tiling.constants, **_constants(models.options)})
    read = [models.smooth, models.common, models.error, models.in_range, models.sentinel, models.counts, models.valid]
    read += [models.blocks.which, models.blocks.members, models.blocks.there, models.dense, *state]
    numbers = [S, K, D, M, num_rounds, tiling.threads // WARP]
    start(source, (R * S, tiling.threads, shared_bytes(K, M)), read, written, numbers)


def shared_bytes(num: int, most_left_out: int) -> int:
    """Shared memory of a block, for models of `num` readings, of a cluster up to `most_left_out` left out at once."""
    tiling = tiling_of(num)
    rows, workers = tiling.grid * tiling.tile, tiling.threads // WARP
    of_clusters = num * (num + 1) // 2 + workers * most_left_out * (most_left_out + 1)
    return 8 * (tiling.space + (3 + _SUMS) * rows + _SUMS + 1 + of_clusters)


def student_t(dof: float) -> dict[str, float]:
    """The macros of `student_t_log_density` in `common.cuh`."""
    constant = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(math.pi * dof)
    return {"DOF": dof, "T_CONSTANT": constant}


def _constants(options: reference.MixtureOptions) -> dict[str, Value]:
    (near_low, near_high), (far_low, far_high) = reference._NEAR, reference._FAR
    return {
        **student_t(options.dof),
        "KINDS": len(reference.KINDS),
        "NOISE": options.noise,
        "PRIOR_INLIERS": options.prior_inliers,
        "PRIOR_OUTLIERS": options.prior_outliers,
        "MAJORITY": options.majority,
        "MAJORITY_PENALTY": options.majority_penalty,
        "NEAR_LOW": near_low,
        "NEAR_HIGH": near_high,
        "FAR_LOW": far_low,
        "FAR_HIGH": far_high,
        "ANYWHERE": reference._ANYWHERE,
        "FLOOR": reference._FLOOR,
        "MIN_INLIER": reference._MIN_INLIER,
        "MIN_VAR": reference._MIN_VAR,
        "COOLING": reference._COOLING,
    }
