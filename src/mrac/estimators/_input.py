"""Checks of what an estimator is given; where scikit-learn's own checks ask for a wording, it is theirs."""

import sys
import warnings

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import FloatArray, as_array, as_numbers
from mrac.errors import ContractError


def as_abscissae(values: ArrayLike, name: str) -> FloatArray:
    """X (n,) or (n, 1) as (n,) float64, n >= 1.

    Raises:
        ContractError: another shape, or not finite real numbers.
    """
    x = _numbers(values, f"{name}: X")
    if x.ndim == 2 and x.shape[1] == 0:
        raise ContractError(
            f"{name}: X has 0 feature(s) (shape={x.shape}) while a minimum of 1 is required; give (n,) or (n, 1)"
        )
    if x.ndim == 2 and x.shape[1] > 1:
        raise ContractError(
            f"{name}: X has {x.shape[1]} features, but {name} is expecting 1 features as input: it fits one line; "
            "give one column, X[:, [0]]"
        )
    if x.ndim not in (1, 2):
        raise ContractError(f"{name}: X of shape {x.shape} arrived; (n,) or (n, 1) is needed. Reshape your data")
    if x.size == 0:
        raise ContractError(f"{name}: X has 0 sample(s) (shape={x.shape}) while a minimum of 1 is required")
    return x.ravel()


def as_readings(values: ArrayLike | None, num: int, name: str) -> FloatArray:
    """Y (n,) as float64; one column (n, 1) is taken with a warning.

    Raises:
        ContractError: another length than `num`, or not finite real numbers.
    """
    if values is None:
        raise ContractError(f"{name}: requires y to be passed, but the target y is None; call fit(x, z)")
    y = _numbers(values, f"{name}: y")
    if y.ndim == 2 and y.shape[1] == 1:
        loaded = sys.modules.get("sklearn.exceptions")
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; give y.ravel()",
            UserWarning if loaded is None else loaded.DataConversionWarning,
            stacklevel=3,
        )
        y = y.ravel()
    if y.shape != (num,):
        raise ContractError(f"{name}: y of shape {y.shape} arrived; ({num},) is needed, one reading for each row of X")
    return y


def _numbers(values: ArrayLike, where: str) -> FloatArray:
    if hasattr(values, "toarray"):
        raise ContractError(f"{where}: a sparse matrix arrived; a dense array is needed: X.toarray()")
    array = as_array(values, where)
    if np.iscomplexobj(array):
        raise ContractError(f"{where}: Complex data not supported; real numbers are needed")
    numbers = as_numbers(array, where)
    if not np.isfinite(numbers).all():
        raise ContractError(f"{where}: contains NaN or infinity; finite numbers are needed: leave those rows out")
    return numbers
