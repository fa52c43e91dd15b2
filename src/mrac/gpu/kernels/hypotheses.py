"""Starts of the gate's search, the choice of distinct hypotheses, and their average: one kernel each."""

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import torch
from torch import Tensor

from mrac.gate.consensus import _TEMPERATURE, FACTORS, initialisation
from mrac.gate.consensus.model import KINDS, MixtureOptions
from mrac.gp.kernel import FINE_VAR
from mrac.gpu.kernels.source import Source, start

if TYPE_CHECKING:
    from mrac.gpu.mixture import Models, Outcome

_FILE: Final = "hypotheses.cu"
_THREADS: Final = 256


class Carried(NamedTuple):
    """Hypotheses that are carried on, (R, S) or (R, S, K) each, and the amplitudes (R, A) that are tried.

    Attributes:
        tried: (R, A) which amplitudes are.
        tried_amplitude: (R, A).
        exists: (R, S).
        state: amplitude, inlier, temperature, share and kinds.
    """

    tried: Tensor
    tried_amplitude: Tensor
    exists: Tensor
    state: list[Tensor]


def starts(models: "Models", error_QK: Tensor, searched: Tensor) -> tuple[list[Tensor], Tensor]:
    """Amplitude, inlier, temperature, share and kinds (Q, H, ...) of every start, and (Q, H) which there are."""
    options, (Q, K), A = models.options, error_QK.shape, len(searched)
    S = options.max_starts
    H = (1 + S) * A
    exists = torch.empty((Q, H), dtype=torch.bool, device=error_QK.device)
    state = _new_state(error_QK, Q, H, K)
    constants = {
        "STARTS": S,
        "KINDS": len(KINDS),
        "VOTE_STD": initialisation._VOTE_STD,
        "INLIER_STD": initialisation._INLIER_STD,
        "APART": initialisation._APART,
        "HOT": initialisation._HOT,
        "WARM": initialisation._WARM,
        "PRIOR_INLIERS": options.prior_inliers,
        "PRIOR_OUTLIERS": options.prior_outliers,
    }
    read = [error_QK, models.valid, models.counts, models.amplitude, searched]
    blocks = Q, _THREADS, 8 * (2 * K + 2 * S)
    start(Source.of(_FILE, "starts", constants), blocks, read, [exists, *state], [K, A])
    return state, exists


def distinct(
    found: "Outcome",
    exists: Tensor,
    models: "Models",
    of: Tensor,
    factors: tuple[Tensor, Tensor],
    num_alone: int,
) -> Carried:
    """Of each row's model `of` (R,) the hypotheses that are carried on, at every amplitude of its third of `factors`.

    Args:
        found: of Q models with H hypotheses each.
        exists: (Q, H).
        models: the Q models.
        of: (R,) int64.
        factors: (3, A) and which of them are tried, of the first third of the rows, the second and the last.
        num_alone: of the hypotheses that count in the last third.
    """
    (H, K), R, A = found.state.inlier.shape[1:], len(of), factors[0].shape[1]
    S = initialisation._CARRIED_ON * A
    device = of.device
    tried, carried = (torch.empty((R, n), dtype=torch.bool, device=device) for n in (A, S))
    tried_amplitude = found.evidence.new_empty((R, A))
    state = _new_state(found.evidence, R, S, K)
    constants = {
        "CARRIED_ON": initialisation._CARRIED_ON,
        "HOPELESS": initialisation._HOPELESS,
        "DISTINCT": initialisation._DISTINCT,
        "MOST_HOT": _TEMPERATURE,
        "KINDS": len(KINDS),
    }
    now = found.state
    read = [found.evidence, now.inlier, exists, now.temperature, now.share, now.kinds, models.amplitude, of, *factors]
    written = [tried, tried_amplitude, carried, *state]
    blocks = R, _THREADS, 8 * (H + initialisation._CARRIED_ON)
    start(Source.of(_FILE, "distinct", constants), blocks, read, written, [R, H, K, A, num_alone])
    return Carried(tried, tried_amplitude, carried, state)


def average(
    out: "Outcome", exists: Tensor, without: Tensor, tried: Tensor, factors: Tensor, options: MixtureOptions
) -> list[Tensor]:
    """What `ModelResult` holds, of hypotheses (R, S · A) at A amplitudes each.

    Args:
        out: after EM.
        exists: (R, S · A).
        without: (R, A) evidence without outliers.
        tried: (R, A).
        factors: (R, A) amplitudes relative to the prior one.
        options: of the mixture.
    """
    (R, A), K = factors.shape, out.residual.shape[2]
    results = [out.residual.new_empty((R, K)) for _ in range(4)] + [out.evidence.new_empty(R) for _ in range(4)]
    constants = {
        "MOST_FACTORS": len(FACTORS),
        "AMPLITUDE_SPREAD": options.amplitude_spread,
        "CLEAN_ODDS": math.log(1.0 / options.prior_clean - 1.0),
        "NOISE": options.noise,
        "FINE_VAR": FINE_VAR,
    }
    read = [out.evidence, exists, without, tried, factors, out.state.amplitude, out.state.share, out.state.inlier]
    read += [out.residual, out.var]
    blocks = R, _THREADS, 8 * (2 * len(FACTORS) + 3)
    start(Source.of(_FILE, "average", constants), blocks, read, results, [exists.shape[1] // A, A, K])
    return results


def _new_state(like: Tensor, num: int, S: int, K: int) -> list[Tensor]:
    """Room for amplitude, inlier, temperature, share and kinds."""
    shapes = (num, S), (num, S, K), (num, S), (num, S), (num, S, len(KINDS))
    return [like.new_empty(shape) for shape in shapes]
