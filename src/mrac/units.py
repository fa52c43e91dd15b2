"""Units of length, and the scales in which depth images are stored."""

from collections.abc import Mapping
from typing import Final

from mrac.errors import ContractError, shown

PER_METRE: Final = {"mm": 1000.0, "cm": 100.0, "m": 1.0, "km": 0.001, "ft": 1 / 0.3048, "feet": 1 / 0.3048}
"""How many of each make a metre."""

DEPTH_SCALES: Final = {"tum": 5000.0, "kitti": 256.0, "realsense": 1000.0, "scannet": 1000.0, "mm": 1000.0, "m": 1.0}
"""Stored units per metre of a depth image, by whose it is."""


def per_metre(scale: str | float, where: str, names: Mapping[str, float] = DEPTH_SCALES) -> float:
    """Stored units per metre, from a number, a number as a command line has it, or a name.

    Args:
        scale: what arrived.
        where: begins the message.
        names: that are known.

    Raises:
        ContractError: it is none of these, or not from 1e-6 to 1e9.
    """
    known = names.get(scale.strip().lower()) if isinstance(scale, str) else None
    try:
        number = float(scale) if known is None else known
    except (TypeError, ValueError):
        number = 0.0
    if not 1e-6 <= number <= 1e9:
        raise ContractError(
            f"{where}: scale {shown(scale)} arrived; stored units per metre are needed, a number from 1e-6 to 1e9, or "
            f"one of {', '.join(names)}"
        )
    return number
