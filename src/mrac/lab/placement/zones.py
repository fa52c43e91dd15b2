"""Square zones that cover the image, each read as the mean depth of its field of view: a multi-zone ToF sensor."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.lab.placement.base import AnchorPlacement, Candidates
from mrac.registry import check_numbers

# Of the valid pixels of the fullest zone: with fewer, the mean would be that of a corner of the zone, which no sensor
# that averages over all of it would report. A share of the fullest, since truth may be sparse everywhere (lidar).
_MIN_SHARE: Final = 0.25


@dataclass(frozen=True)
class Zones(AnchorPlacement):
    """One reading for each zone, at the valid pixel nearest to its centre; see `_MIN_SHARE` for zones left out.

    A sensor of 8 × 8 zones (VL53L5CX) has 64 readings and not more, however many are wanted; of fewer, any.

    Attributes:
        num: zones along each side of the image.
    """

    num: int = 8

    def __post_init__(self) -> None:
        check_numbers(self, 1, 1_000)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        H, W = candidates.valid.shape
        v, u = np.divmod(candidates.pixels, W)
        zone = self._zone(v, u, (H, W))
        row, column = np.divmod(zone, self.num)
        off = np.hypot((v + 0.5) - (row + 0.5) * H / self.num, (u + 0.5) - (column + 0.5) * W / self.num)
        order = np.lexsort((off, zone))
        first = order[np.flatnonzero(np.diff(zone[order], prepend=-1))]
        number = np.bincount(zone, minlength=self.num**2)
        first = first[number[zone[first]] >= _MIN_SHARE * number.max()]
        return candidates.pixels[rng.permutation(first)[:count]]

    def read(self, depth_m: FloatArray, valid: BoolArray, uv_px: NDArray[np.int64]) -> FloatArray:
        """See `AnchorPlacement`; the mean depth of all valid pixels of a zone."""
        v, u = np.nonzero(valid)
        zone = self._zone(v, u, valid.shape)
        number = np.bincount(zone, minlength=self.num**2)
        total = np.bincount(zone, depth_m[v, u].astype(np.float64), minlength=self.num**2)
        chosen = self._zone(uv_px[:, 1], uv_px[:, 0], valid.shape)
        return np.asarray(total[chosen] / number[chosen])

    def _zone(self, v: NDArray[np.intp], u: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[np.intp]:
        """The number of the zone of each pixel, row by row."""
        return v * self.num // shape[0] * self.num + u * self.num // shape[1]


IMPLEMENTATION = Zones
