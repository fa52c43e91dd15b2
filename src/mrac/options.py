"""Checks the parameters of a stage when it is made, so that a mistake is named before anything runs."""

import dataclasses
import math
from typing import Any, get_type_hints

from mrac.errors import ContractError


def check_numbers(stage: Any, low: float, high: float, only: tuple[str, ...] = ()) -> None:
    """Raises `ContractError` unless the stage's numeric fields are finite and in [low, high], whole where they must be.

    Args:
        stage: a dataclass instance.
        low: the least value permitted.
        high: the largest value permitted.
        only: the fields to check; all numeric ones if empty.
    """
    kinds = get_type_hints(type(stage))
    for field in dataclasses.fields(stage):
        kind, value = kinds[field.name], getattr(stage, field.name)
        if kind not in (int, float) or (only and field.name not in only):
            continue
        where = f"{type(stage).__name__}.{field.name}"
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else int):
            needed = "a whole number" if kind is int else "a number"
            raise ContractError(f"{where}: {value!r} arrived, {needed} is needed")
        if not (math.isfinite(value) and low <= value <= high):
            raise ContractError(f"{where}: {value!r} arrived, a number from {low:g} to {high:g} is needed")
