"""Anchors from a sparse 16-bit depth PNG: a reading at every pixel that is not 0."""

from pathlib import Path

import numpy as np

from mrac.errors import ContractError
from mrac.io.files import read_png16
from mrac.types import Anchors


def read(path: Path, scale: float | None, image_shape: tuple[int, int] | None) -> Anchors:
    """Reads depth stored as z · scale, at whole pixels.

    Args:
        path: the file.
        scale: stored value per metre: 256 for KITTI, 1000 for millimetres, 5000 for TUM. None takes what the file
            itself states (as ours do).
        image_shape: (H, W) of the image, which the file must match; None where it is not known.

    Raises:
        ContractError: the file is missing, not a 16-bit PNG or not of the image's size, or nobody states its scale.
    """
    stored, stated = read_png16(path)
    per_metre = scale or stated
    if per_metre is None:
        raise ContractError(
            f"anchors/png: {path} does not state its scale; give it: --anchors-scale 256 for KITTI, 1000 for mm"
        )
    if image_shape is not None and stored.shape != image_shape:
        raise ContractError(
            f"anchors/png: {path} is {stored.shape[1]}×{stored.shape[0]} (width × height), the image "
            f"{image_shape[1]}×{image_shape[0]}; the same size is needed, since positions are pixels of the image"
        )
    v, u = np.nonzero(stored)
    return Anchors(np.stack([u, v], axis=1), stored[v, u] / per_metre)
