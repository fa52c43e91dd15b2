"""VI-Depth's limits of depth: the range of readings that are used, and the range of its predictions."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Distances in metres along the optical axis; the defaults are those of VOID, the training data.

    Attributes:
        min_depth_m: a reading is used if it is farther than this (strictly).
        max_depth_m: a reading is used if it is nearer than this (strictly).
        min_pred_m: no predicted depth is below this.
        max_pred_m: no predicted depth is above this.
    """

    min_depth_m: float = 0.2
    max_depth_m: float = 5.0
    min_pred_m: float = 0.1
    max_pred_m: float = 8.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-6, 1e6)
        if not self.min_depth_m < self.max_depth_m:
            raise ContractError(
                f"Ranges: min_depth_m = {self.min_depth_m:g} and max_depth_m = {self.max_depth_m:g} arrived; the "
                "first must be the smaller one"
            )
        # Readings beyond the limit of predictions move the whole map to the limit: with readings up to 80 m and a limit
        # of 8 m the alignment becomes one constant. So both limits have to be changed together.
        if not (self.min_pred_m <= self.min_depth_m and self.max_depth_m <= self.max_pred_m):
            raise ContractError(
                f"Ranges: predictions from {self.min_pred_m:g} to {self.max_pred_m:g} m do not cover readings from "
                f"{self.min_depth_m:g} to {self.max_depth_m:g} m; change min_pred_m or max_pred_m along with them"
            )

    @property
    def inv_limits_per_m(self) -> tuple[float, float]:
        """The least and the largest inverse depth that may be predicted, 1/m."""
        return 1.0 / self.max_pred_m, 1.0 / self.min_pred_m

    def depth_m(self, inv_z_per_m: FloatArray) -> FloatArray:
        """Depth in metres, float32, within [min_pred_m, max_pred_m], from inverse depth in 1/m of any shape.

        VI-Depth itself does not clamp here. But its last step is a bicubic resize, which overshoots at edges; below
        zero, depth would be negative.
        """
        return (1.0 / np.clip(inv_z_per_m, *self.inv_limits_per_m)).astype(np.float32)


VOID: Final = Ranges()
# One set of limits for rooms and streets, for weights that are not the published ones. They exclude sensor faults and
# the horizon only: the range of a scene follows from its readings.
WIDE: Final = Ranges(min_depth_m=0.1, max_depth_m=100.0, min_pred_m=0.1, max_pred_m=100.0)
