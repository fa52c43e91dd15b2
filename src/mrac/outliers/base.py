"""The contract of an outlier family: which of K true readings become wrong, and what they say then."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError


@dataclass(frozen=True, eq=False, kw_only=True)
class Truth:
    """True readings and what a family may look at.

    Attributes:
        uv_px: (K, 2) where they were taken.
        z_m: (K,) metres.
        truth_m: (H, W) metres, NaN where there is none.
        max_range_m: what the sensor reports where nothing comes back.
    """

    uv_px: FloatArray | NDArray[np.int64]
    z_m: FloatArray
    truth_m: FloatArray
    max_range_m: float

    def __post_init__(self) -> None:
        K = self.z_m.size
        if self.z_m.shape != (K,) or self.uv_px.shape != (K, 2) or self.truth_m.ndim != 2:
            raise ContractError(
                f"outliers: uv_px {self.uv_px.shape}, z_m {self.z_m.shape} and truth_m {self.truth_m.shape} arrived; "
                "(K, 2), (K,) and (H, W) are needed"
            )


class Corrupted(NamedTuple):
    """K readings after injection.

    Attributes:
        z_m: (K,) metres.
        wrong: (K,) which of them were replaced.
    """

    z_m: FloatArray
    wrong: BoolArray


class Outliers(ABC):
    """A family is a frozen dataclass of its parameters; calling it corrupts a copy, and keeps nothing."""

    def __call__(self, truth: Truth, fraction: float, rng: np.random.Generator) -> Corrupted:
        """Corrupts round(fraction · K) of K readings; the rest stay as they are, to the bit.

        Args:
            truth: the readings and the scene.
            fraction: in [0, 1]; halves are rounded to even, as Python does.
            rng: draws which ones, then what they say.

        Raises:
            ContractError: the fraction is not in [0, 1].
        """
        if not 0.0 <= fraction <= 1.0:
            raise ContractError(f"outliers: fraction = {fraction!r}; a number from 0 to 1 is needed")
        wrong = np.zeros(truth.z_m.size, np.bool_)
        wrong[self.choose(truth, round(fraction * truth.z_m.size), rng)] = True
        return Corrupted(np.where(wrong, self.replace(truth, rng), truth.z_m), wrong)

    def choose(self, truth: Truth, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """(count,) different indices of readings to corrupt: any, unless the family has a preference."""
        return rng.choice(truth.z_m.size, count, replace=False)

    @abstractmethod
    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """(K,) what each reading would say: drawn for all, so that it does not depend on how many are wrong."""
