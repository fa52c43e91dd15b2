"""A gate of an estimator in scikit-learn's style that finds inliers: `mrac.TheilSenGate`, `RANSACRegressor`."""

import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.gate.base import LineGate, verdict
from mrac.robust_line.theil_sen import MAD_TO_SIGMA
from mrac.types import GateResult, Samples


class Estimator(Protocol):
    """What makes an object an estimator."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fits y (K,) by X (K, 1), and returns itself."""


@dataclass(frozen=True)
class EstimatorGate(LineGate):
    """Keeps the `inlier_mask_` of an estimator that a copy of is fitted to relative depth (K, 1) and readings (K,).

    Attributes:
        estimator: with `fit` and `predict`; after `fit` with `inlier_mask_` and, where it has one, the standard
            deviation `sigma_`, in which scores are stated, else by the median absolute residual of the inliers.
    """

    estimator: Estimator

    @property
    def stage_name(self) -> str:
        """The estimator's class."""
        return type(self.estimator).__name__

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`."""
        fitted = copy.deepcopy(self.estimator).fit(x[:, None], y)  # a copy: threads may share the gate
        keep = getattr(fitted, "inlier_mask_", None)
        if not isinstance(keep, np.ndarray) or keep.shape != x.shape or keep.dtype != np.bool_:
            raise ContractError(
                f"gate {self.stage_name}: after fit its inlier_mask_ is {keep!r:.60}; ({x.size},) bool is needed"
            )
        residual = y - np.asarray(fitted.predict(x[:, None]), np.float64).reshape(x.shape)
        sigma = getattr(fitted, "sigma_", None)
        if sigma is None:
            sigma = MAD_TO_SIGMA * np.median(np.abs(residual[keep])) if keep.any() else 0.0
        return verdict(samples, keep, residual, float(sigma))
