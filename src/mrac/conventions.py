"""The one page on axes, units and invalid values. Everything in the package follows it.

Pixels
    `u` runs right, `v` runs down; pixel centres lie at integers, so the first pixel's centre is (0, 0) and an
    (H, W) image covers -0.5 <= u < W - 0.5, -0.5 <= v < H - 0.5. Arrays are indexed [v, u].
    These are pixels of the picture as a viewer shows it: a photograph file is turned upright by its EXIF orientation
    before anything else, and readings, relative depth, sparse depth PNGs and results all refer to the upright one. An
    array is taken as it is.
Depth
    `z_m` is the distance along the optical axis in metres, not the length of the ray (`range_m`). Depth that this
    package returns is finite and greater than zero at every pixel.
Spaces
    `depth` z, `inverse_depth` 1/z and `log_depth` ln z. A relative field is known only up to y = a·x + b in its
    space; the space is part of its type (`RelativeDepth.space`).
Invalid values
    NaN in a relative field means "no prediction here". An anchor that cannot be used is never dropped: it keeps its
    place with `keep = False` and a reason.
Names
    Unit suffixes `_m`, `_px`; `num_` for counts; K anchors, an (H, W) image.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
ImageArray = NDArray[np.uint8]
TextArray = NDArray[np.str_]
