"""Checks what a stage returned, so that a mistake in a plug-in is named where it is made, not where it does harm."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from mrac.errors import ContractError
from mrac.registry import stage_name
from mrac.types import FitResult, GateResult, RelativeDepth

_Result = TypeVar("_Result")
_KINDS: Final = {"b": "bool", "f": "float", "U": "text"}  # of numpy's dtypes, and what a message calls them
_ROUNDING: Final = 1e-6  # by which a probability may exceed 1


class Need(NamedTuple):
    """What an array must be.

    Attributes:
        shape: of the array.
        kind: of its dtype, as numpy has it: `b`, `f` or `U`.
        low: the least number permitted; NaN and infinities never are.
        high: the largest number permitted.
        words: what a message says of `low` and `high`.
        optional: whether None will do.
    """

    shape: tuple[int, ...]
    kind: str = "f"
    low: float = -np.inf
    high: float = np.inf
    words: str = "finite numbers"
    optional: bool = False


def checked(stage: str, maker: object, result: Any, kind: type[_Result], needs: Mapping[str, Need]) -> _Result:
    """`result` itself, if it is a `kind` whose arrays are as needed.

    Args:
        stage: `gate`, `fit`, `head` or `foundation`.
        maker: the implementation, which the message names.
        result: what it returned.
        kind: what it should have returned.
        needs: by field of it.

    Raises:
        ContractError: it is something else; the message says what.
    """
    if not isinstance(result, kind):
        raise ContractError(f"{stage} {stage_name(maker)}: {describe(result)} arrived, a {kind.__name__} is needed")
    for field, need in needs.items():
        value = getattr(result, field)
        if value is None and need.optional:
            continue
        fault = _fault(value, need)
        if fault:
            raise ContractError(f"{stage} {stage_name(maker)}: {kind.__name__}.{field}: {fault}")
    return result


def describe(value: object) -> str:
    """What `value` is, for a message: its type, of an array its dtype and shape too."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return "None" if value is None else type(value).__name__


def _fault(value: Any, need: Need) -> str:
    """What is wrong with an array; empty if nothing."""
    if not isinstance(value, np.ndarray) or value.shape != need.shape or value.dtype.kind != need.kind:
        return f"{describe(value)} arrived, {_KINDS[need.kind]} of shape {need.shape} is needed"
    if need.kind == "f" and value.size:
        least, most = float(value.min()), float(value.max())  # a NaN is both
        if not (need.low <= least and most <= need.high and np.isfinite([least, most]).all()):
            return f"numbers from {least:g} to {most:g} arrived, {need.words} are needed"
    return ""


def checked_gate(gate: object, result: Any, num: int) -> GateResult:
    """`result` if it is a verdict on `num` samples; otherwise `ContractError`."""
    share = Need((num,), "f", 0.0, 1.0 + _ROUNDING, "numbers from 0 to 1")
    needs = {
        "keep": Need((num,), "b"),
        "weight": share,
        "score": Need((num,)),
        "reason": Need((num,), "U"),
        "outlier_probability": share._replace(optional=True),
    }
    return checked("gate", gate, result, GateResult, needs)


def checked_fit(fit: object, result: Any, num: int) -> FitResult:
    """`result` if it is a relation fitted to `num` samples; otherwise `ContractError`."""
    found = checked("fit", fit, result, FitResult, {"covariance": Need((2, 2)), "used": Need((num,), "b")})
    for field in ("scale", "shift", "sigma"):
        value = getattr(found, field)
        if not (isinstance(value, float | int | np.floating) and np.isfinite(value)):
            where = f"fit {stage_name(fit)}: FitResult.{field}"
            raise ContractError(f"{where}: {value!r} arrived, a finite number is needed")
    return found


def checked_relative(foundation: object, result: Any, shape: tuple[int, int]) -> RelativeDepth | None:
    """`result` if it is relative depth of the image's `shape` (H, W), or None; otherwise `ContractError`."""
    if result is not None and not isinstance(result, RelativeDepth):
        raise ContractError(
            f"foundation {stage_name(foundation)}: {describe(result)} arrived, a RelativeDepth is needed: "
            'return RelativeDepth(values, "inverse_depth"), or depth, or log_depth'
        )
    if result is not None and result.values.shape != shape:
        raise ContractError(
            f"foundation {stage_name(foundation)}: relative depth of shape {result.values.shape} arrived, the image's "
            f"{shape} is needed; mrac.relative.resize_field resamples it"
        )
    return result
