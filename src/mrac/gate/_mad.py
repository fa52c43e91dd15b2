"""The test at κ robust standard deviations that gates around a robust line share."""

from dataclasses import dataclass

from mrac.gate.base import LineGate
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class MadGate(LineGate):
    """Keeps the anchors within `kappa` robust standard deviations of a line; subclasses fit the line.

    Attributes:
        kappa: width of the test in robust standard deviations (1.4826 times the median absolute deviation).
    """

    kappa: float = 2.0

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1e9)
