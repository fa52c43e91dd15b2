"""Anchors from a sparse 16-bit depth PNG: one at every pixel that is not 0."""

from pathlib import Path

import numpy as np

from mrac.anchors._stored import Stored
from mrac.io.files import read_png16


def read(path: Path) -> Stored:
    """Reads depth at whole pixels; the unit is what the file states (as ours do), else the user must give it.

    Raises:
        ContractError: the file is missing or not a 16-bit PNG.
    """
    stored, stated = read_png16(path)
    v, u = np.nonzero(stored)
    return Stored(np.stack([u, v], axis=1), stored[v, u], None, stated, (stored.shape[0], stored.shape[1]))
