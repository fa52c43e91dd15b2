"""What a call needs of its image and readings alone, computed while the foundation's network runs."""

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from mrac.anchors import Anchors
from mrac.anchors._validity import Usable, usable
from mrac.conventions import BoolArray, ImageArray
from mrac.gate.base import Gate
from mrac.gp.features import ImageAppearance
from mrac.gp.kernel import ProcessOptions
from mrac.head.base import Head
from mrac.lazy import computed_once
from mrac.runtime.onnx_session import beside_network
from mrac.types import Samples


class Beforehand:
    """Everything here is computed on first use, and once; `beside_network` only moves it to another core and earlier.

    Args:
        image: (H, W, 3) uint8.
        anchors: K readings.

    Attributes:
        appearance: of the image.
    """

    def __init__(self, image: ImageArray, anchors: Anchors) -> None:
        self.appearance = ImageAppearance(image)
        self._anchors = anchors

    def beside_network(self, gate: Gate, head: Head) -> AbstractContextManager[object]:
        """Begins when the first network inside the `with` does, where gate or head has a Gaussian process."""
        needed = any(isinstance(stage, ProcessOptions) for stage in (gate, head))
        return beside_network(lambda: self._compute(gate)) if needed else nullcontext()

    def used(self, has_value: BoolArray | None) -> Usable:
        """The usable anchors; `has_value` (H, W) is where relative depth has a value, None without it."""
        if has_value is not None and not has_value.all():
            return usable(self._anchors, self.appearance.shape, has_value)
        anywhere: Usable = self._used_anywhere
        return anywhere

    @computed_once
    def _used_anywhere(self) -> Usable:
        return usable(self._anchors, self.appearance.shape, None)

    def _compute(self, gate: Gate) -> None:
        _ = self.appearance.cells
        readings = self._used_anywhere.readings
        one = np.ones(len(readings))
        bare = Samples(readings.uv_px, readings.z_m, None, "log_depth", native=False, weight=one)
        gate.prepare(bare, self.appearance)
