"""Depth metrics: the usual eight, as functions of prediction and truth over valid pixels; means are over images.

Definitions as in the Eigen/BTS/ZoeDepth lineage: AbsRel and SqRel divide by the truth, RMSE-log is natural, the
thresholds are strict. Also per image: precision and recall of a gate's rejections, and the coverage of the stated
uncertainty.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError


@dataclass(frozen=True)
class DepthMetrics:
    """The eight depth metrics of one image. Lower is better for the first five, higher for the thresholds."""

    abs_rel: float
    sq_rel: float
    rmse: float
    rmse_log: float
    log10: float
    delta1: float
    delta2: float
    delta3: float

    def to_dict(self) -> dict[str, float]:
        """Name to value."""
        return asdict(self)


def depth_metrics(predicted_m: FloatArray, truth_m: FloatArray, valid: BoolArray) -> DepthMetrics:
    """The metrics of one image.

    Args:
        predicted_m: (H, W) metres, already clipped to the protocol's range, > 0 where valid.
        truth_m: (H, W) metres, > 0 where valid.
        valid: (H, W) the pixels to score.

    Raises:
        ContractError: no pixel is valid; such an image is counted and skipped by the caller, never averaged.
    """
    if not valid.any():
        raise ContractError("metrics: no valid pixel")
    p, g = predicted_m[valid].astype(np.float64), truth_m[valid].astype(np.float64)
    difference, log_difference = p - g, np.log(p) - np.log(g)
    ratio = np.exp(np.abs(log_difference))
    return DepthMetrics(
        abs_rel=float(np.mean(np.abs(difference) / g)),
        sq_rel=float(np.mean(difference**2 / g)),
        rmse=float(np.sqrt(np.mean(difference**2))),
        rmse_log=float(np.sqrt(np.mean(log_difference**2))),
        log10=float(np.mean(np.abs(log_difference)) / np.log(10.0)),
        delta1=float(np.mean(ratio < 1.25)),
        delta2=float(np.mean(ratio < 1.25**2)),
        delta3=float(np.mean(ratio < 1.25**3)),
    )


def clip_depth(predicted_m: FloatArray, min_depth_m: float, max_depth_m: float) -> FloatArray:
    """A prediction (H, W) clipped to the protocol's range before it is scored; NaN becomes the least depth."""
    return np.clip(np.nan_to_num(predicted_m, nan=min_depth_m, posinf=np.inf, neginf=-np.inf), min_depth_m, max_depth_m)


@dataclass(frozen=True)
class Score:
    """One image scored under a protocol.

    Attributes:
        metrics: of the clipped prediction.
        clipped: share of scored pixels that clipping changed: it hides failures, so it is reported.
        num_pixels: scored.
    """

    metrics: DepthMetrics
    clipped: float
    num_pixels: int


def score_depth(
    predicted_m: FloatArray, truth_m: FloatArray, scored: BoolArray, min_depth_m: float, max_depth_m: float
) -> Score:
    """Clips a prediction to the protocol's range and computes its metrics.

    Args:
        predicted_m: (H, W) metres, any value; non-finite ones are clipped too.
        truth_m: (H, W) metres, within the range where scored.
        scored: (H, W) the pixels to score.
        min_depth_m: of the protocol, > 0.
        max_depth_m: of the protocol.

    Raises:
        ContractError: no pixel is scored; such an image is counted and skipped by the caller, never averaged.
    """
    clipped_m = clip_depth(predicted_m, min_depth_m, max_depth_m)
    metrics = depth_metrics(clipped_m, truth_m, scored)
    return Score(metrics, float(np.mean(clipped_m[scored] != predicted_m[scored])), int(np.count_nonzero(scored)))


@dataclass(frozen=True)
class GateMetrics:
    """Precision and recall of a gate's rejections in one image. A ratio without a denominator is None, not 0 or 1.

    Attributes:
        injected: number of outliers among the anchors.
        rejected: number of anchors that the gate rejected.
        caught: number of outliers that it rejected.
        precision: share of the rejected that are outliers.
        recall: share of the outliers that are rejected.
        f1: harmonic mean of the two.
    """

    injected: int
    rejected: int
    caught: int
    precision: float | None
    recall: float | None
    f1: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Name to value."""
        return asdict(self)


def gate_metrics(keep: BoolArray, wrong: BoolArray) -> GateMetrics:
    """The paper's precision and recall of rejection (supplement, table SII), and F1.

    Args:
        keep: (K,) which anchors the gate keeps.
        wrong: (K,) which anchors are outliers.
    """
    if keep.shape != wrong.shape:
        raise ContractError(f"metrics: keep {keep.shape} and wrong {wrong.shape} arrived; the same shape is needed")
    injected, rejected = int(np.count_nonzero(wrong)), int(np.count_nonzero(~keep))
    caught = int(np.count_nonzero(wrong & ~keep))
    return GateMetrics(
        injected=injected,
        rejected=rejected,
        caught=caught,
        precision=caught / rejected if rejected else None,
        recall=caught / injected if injected else None,
        f1=2 * caught / (injected + rejected) if injected + rejected else None,
    )


def coverage(
    predicted_m: FloatArray,
    sigma_m: FloatArray,
    truth_m: FloatArray,
    valid: BoolArray,
    levels: Sequence[float] = (0.5, 0.6827, 0.9, 0.95),
) -> dict[float, float]:
    """Coverage: share of pixels whose truth is in the central interval of each level of N(predicted, sigma).

    Calibrated means that the share equals the level.

    Args:
        predicted_m: (H, W) metres.
        sigma_m: (H, W) stated standard deviation, metres, > 0.
        truth_m: (H, W) metres.
        valid: (H, W) the pixels to score.
        levels: in (0, 1).

    Returns:
        Level to the share of pixels inside.

    Raises:
        ContractError: no pixel is valid.
    """
    if not valid.any():
        raise ContractError("metrics: no valid pixel")
    error = np.abs(predicted_m[valid].astype(np.float64) - truth_m[valid])
    deviations = error / sigma_m[valid]
    return {level: float(np.mean(deviations <= NormalDist().inv_cdf(0.5 + 0.5 * level))) for level in levels}
