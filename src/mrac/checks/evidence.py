"""What the checks look at: all readings, usable or not, the network's field, the image's size and the camera."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.camera import Camera
from mrac.conventions import BoolArray, FloatArray, in_image
from mrac.lazy import computed_once
from mrac.sensors.presets import OUT_OF_RANGE
from mrac.space import Space

MAX_READINGS: Final = 200  # looked at; of more, every so many-th: a mistake is in all of them, and a call has 2 ms
_SANE: Final = (1e-6, 1e8)  # a reading in any unit; beyond is no depth at all, and would overflow
_FARTHEST_PX: Final = 1e6  # a position, likewise
MIN_READINGS: Final = 8  # under which agreement with the network proves nothing


@dataclass(frozen=True, eq=False)
class Evidence:
    """The readings of one call and what they can be compared with.

    Attributes:
        anchors: K readings as they came, before any is judged.
        shape: (H, W) of the image.
        field: (H, W) finite relative depth, or None.
        space: of the field.
        metric: whether the field is log depth in metres for a camera with a focal length of 0.9 of the width, as the
            embedded network's is.
        camera: of the image, where the caller knows it.
        max_range_m: the largest distance that the sensor can report, where known: a `Calibrator` does not know it.
    """

    anchors: Anchors
    shape: tuple[int, int]
    field: FloatArray | None = None
    space: Space = "log_depth"
    metric: bool = False
    camera: Camera | None = None
    max_range_m: float | None = None

    @computed_once
    def readings(self) -> Anchors:
        """Those with a depth and a position of sane size, unflagged or beyond the sensor's range; some, if many."""
        anchors = self.anchors
        good = (np.abs(anchors.uv_px) < _FARTHEST_PX).all(axis=1)  # False for NaN, as are the next two
        good &= (anchors.z_m > _SANE[0]) & (anchors.z_m < _SANE[1])
        if anchors.flag is not None:
            # One beyond its sensor's range may be right, in another unit than was taken for it.
            good &= (anchors.flag == UNFLAGGED) | (anchors.flag == OUT_OF_RANGE)
        index = np.flatnonzero(good)
        if index.size > MAX_READINGS:
            index = index[np.linspace(0, index.size - 1, MAX_READINGS).astype(np.intp)]
        return anchors.take(index)

    def inside(self, uv_px: FloatArray) -> BoolArray:
        """(..., K) which of (..., K, 2) positions lie in the image."""
        return in_image(uv_px, (self.shape[1], self.shape[0]))

    @property
    def has_fractions(self) -> bool:
        """Whether there are readings and all their positions lie within [0, 1]."""
        uv = self.readings.uv_px
        return bool(uv.size and uv.min() >= 0.0 and uv.max() <= 1.0)
