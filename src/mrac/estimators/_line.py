"""What the estimators share: parameters, prediction and score as scikit-learn expects them."""

import inspect
import sys
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError, MracError
from mrac.estimators._input import as_abscissae, as_readings


class NotFittedError(MracError, ValueError, AttributeError):
    """`predict` or `score` was called before `fit`; with scikit-learn imported, its error of that name is raised."""


class FittedLine(NamedTuple):
    """The line z = slope · x + intercept and which of the n points lie on it, `keep` (n,)."""

    slope: float
    intercept: float
    keep: BoolArray


class RobustLine(ABC):
    """A robust line through points, most of them right.

    Attributes:
        coef_: (1,) the slope.
        intercept_: the value at x = 0.
        inlier_mask_: (n,) which of the points that it was fitted to are inliers.
        n_features_in_: 1.
    """

    coef_: FloatArray
    intercept_: float
    inlier_mask_: BoolArray
    n_features_in_: int

    @abstractmethod
    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        """The line through one point or more, all finite; x (n,) and z (n,) float64."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fits the line.

        Args:
            X: (n,) or (n, 1) abscissae such as relative depth, finite.
            y: (n,) readings, finite, in any unit.

        Returns:
            Itself.

        Raises:
            ContractError: they are not finite numbers, one for one, or a parameter is out of its range.
        """
        name = type(self).__name__
        x = as_abscissae(X, name)
        line = self._fit_line(x, as_readings(y, x.size, name))
        if not (np.isfinite(line.slope) and np.isfinite(line.intercept)):
            raise ContractError(f"{name}: X or y is so large that the line through them is infinite; scale them down")
        self.coef_ = np.array([line.slope])
        self.intercept_ = float(line.intercept)
        self.inlier_mask_ = line.keep
        self.n_features_in_ = 1
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """(n,) the line at `X` (n,) or (n, 1)."""
        self._check_fitted()
        return np.asarray(as_abscissae(X, type(self).__name__) * self.coef_[0] + self.intercept_)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """R² of the prediction: 1 is exact, 0 is no better than the mean of `y` (n,). Outliers count here."""
        off = as_readings(y, len(predicted := self.predict(X)), type(self).__name__)
        residual = float(((off - predicted) ** 2).sum())
        total = float(((off - off.mean()) ** 2).sum())
        return 1.0 - residual / total if total > 0.0 else float(residual == 0.0)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` is scikit-learn's and changes nothing, as none is an estimator."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters; they are checked by `fit`.

        Raises:
            ContractError: there is none of that name.
        """
        known = inspect.signature(type(self)).parameters
        for name, value in params.items():
            if name not in known:
                raise ContractError(f"{type(self).__name__}: no parameter {name!r}; known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator, and the only place that needs it."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags  # noqa: PLC0415

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, single_output=True),
            # Its checks score on five features of which this regressor is given one.
            regressor_tags=RegressorTags(poor_score=True),
            input_tags=InputTags(one_d_array=True),
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            loaded = sys.modules.get("sklearn.exceptions")
            error = NotFittedError if loaded is None else loaded.NotFittedError
            raise error(f"{type(self).__name__}: not fitted yet; call fit(x, z) first")


class MadLine(RobustLine):
    """A line whose inliers lie within κ robust standard deviations.

    Args:
        kappa: width of the test in robust standard deviations (1.4826 times the median absolute deviation).

    Attributes:
        sigma_: one robust standard deviation of the residuals, in the unit of y.
    """

    sigma_: float

    def __init__(self, kappa: float = 2.0) -> None:
        self.kappa = kappa
