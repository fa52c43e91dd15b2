"""Keeps the readings within a sensor's range: VI-Depth's only test of a reading (Wofk et al. 2023)."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.gate.base import Gate
from mrac.gp.features import ImageAppearance
from mrac.registry import check_numbers
from mrac.types import WORST_SCORE, GateResult, Samples
from mrac.vi_depth.ranges import WIDE


@dataclass(frozen=True, kw_only=True)
class RangeGate(Gate):
    """A reading is kept if it lies strictly between two depths; nothing else is looked at.

    A sensor that reports its largest range where nothing came back is so without those readings.

    Attributes:
        min_depth_m: at or nearer than this a reading is rejected.
        max_depth_m: at or farther than this a reading is rejected; 0 takes 100 m, which no reading here reaches.
    """

    min_depth_m: float = WIDE.min_depth_m
    max_depth_m: float = 0.0

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1e6)
        if self.max_depth_m and not self.min_depth_m < self.max_depth_m:
            raise ContractError(
                f"gate/range: min_depth_m = {self.min_depth_m:g} and max_depth_m = {self.max_depth_m:g} arrived; the "
                "first must be the smaller one"
            )

    def for_sensor(self, max_range_m: float) -> Self:
        """This gate with the sensor's largest range, unless it has one of its own."""
        return self if self.max_depth_m else replace(self, max_depth_m=max_range_m)

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`."""
        z_m = samples.z_m.astype(np.float32)  # as VI-Depth compares: its readings and its limits are single precision
        near, far = np.float32(self.min_depth_m), np.float32(self.max_depth_m or WIDE.max_depth_m)
        keep = (z_m > near) & (z_m < far)
        return GateResult(
            keep=keep,
            score=np.where(keep, 0.0, WORST_SCORE),
            reason=np.where(keep, "unjudged", "out_of_range"),
            weight=keep.astype(np.float64),
        )


IMPLEMENTATION = RangeGate
