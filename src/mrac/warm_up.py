"""Runs a method on small made scenes of every kind, so that its kernels are compiled and its networks loaded."""

from dataclasses import replace
from typing import Final

import numpy as np

from mrac.anchors import Anchors
from mrac.pipeline import Calibrator
from mrac.types import RelativeDepth

_SHAPE: Final = (240, 320)  # large enough for a coarse grid of the head, which is interpolated
# Few readings, as many as are solved together, and so many that gate and head divide them.
_COUNTS: Final = (3, 50, 400)


def warm_up(method: str) -> None:
    """Calls `method` with each kind of reading, with its own network, a given field and none.

    Raises:
        ContractError: there is no such method, or its weights are missing.
        MissingExtra: it needs a package that is not installed.
    """
    calibrator, alone = Calibrator(method), Calibrator(method, foundation="none")
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (*_SHAPE, 3), dtype=np.uint8)
    relative = RelativeDepth(np.linspace(0.0, 1.0, image[..., 0].size, dtype=np.float32).reshape(_SHAPE), "log_depth")
    for num in _COUNTS:
        v, u = np.unravel_index(rng.choice(image[..., 0].size, num, replace=False), _SHAPE)
        anchors = Anchors(np.stack([u, v], axis=1), rng.uniform(1.0, 4.0, num))
        calibrator(image, anchors)
        alone(image, anchors)
        alone(image, anchors, relative)
        alone(image, replace(anchors, extent_px=np.full((num, 2), 9.0)), relative)  # means over areas, as of zones
