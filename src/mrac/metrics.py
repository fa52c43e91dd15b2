"""The eight depth metrics, pure functions of prediction and truth over valid pixels; means are taken over images.

Definitions as in the Eigen/BTS/ZoeDepth lineage: AbsRel and SqRel divide by the truth, RMSE-log is natural, the
thresholds are strict.
"""

from dataclasses import asdict, dataclass

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError


@dataclass(frozen=True)
class DepthMetrics:
    """All eight for one image. Lower is better for the first five, higher for the thresholds."""

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
        valid: (H, W) the pixels that count.

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
