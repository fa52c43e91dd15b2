"""The crops inside which depth is customarily scored, as rectangles of rows and columns, half-open."""

from typing import Final

import numpy as np

from mrac.conventions import BoolArray
from mrac.errors import ContractError

# Fractions of height and width: (top, bottom, left, right). The two differ by 5 to 10 % of AbsRel on KITTI.
_FRACTIONS: Final = {
    "garg": (0.40810811, 0.99189189, 0.03594771, 0.96405229),
    "eigen": (0.3324324, 0.91351351, 0.0359477, 0.96405229),
}
# Eigen's crop of NYUv2, in pixels of 480 × 640: elsewhere it would be another crop of the same name.
_NYU_SHAPE: Final = (480, 640)
_NYU: Final = (slice(45, 471), slice(41, 601))

CROPS: Final = ("none", "nyu", *_FRACTIONS)

KB_SHAPE: Final = (352, 1216)


def crop_window(name: str, shape: tuple[int, int]) -> tuple[slice, slice]:
    """Rows and columns of the crop called `name` (`none`, `nyu`, `garg`, `eigen`) in an image (H, W).

    Raises:
        ContractError: there is no such crop, or it is not meant for images of this size.
    """
    if name == "none":
        return slice(None), slice(None)
    if name == "nyu":
        if shape != _NYU_SHAPE:
            raise ContractError(
                f"datasets: the crop nyu is for 480 × 640 pixels, {shape[0]} × {shape[1]} arrived; choose another"
            )
        return _NYU
    if name not in _FRACTIONS:
        raise ContractError(f"datasets: there is no crop {name!r}; known: {', '.join(CROPS)}")
    H, W = shape
    top, bottom, left, right = _FRACTIONS[name]
    return slice(int(top * H), int(bottom * H)), slice(int(left * W), int(right * W))


def crop_mask(name: str, shape: tuple[int, int]) -> BoolArray:
    """(H, W) the pixels inside a crop; see `crop_window`."""
    inside = np.zeros(shape, np.bool_)
    inside[crop_window(name, shape)] = True
    return inside


def kb_window(shape: tuple[int, int]) -> tuple[slice, slice]:
    """Rows and columns of the KITTI benchmark crop: the lowest 352 rows, the middle 1216 columns.

    Raises:
        ContractError: the image is smaller than that.
    """
    top, spare = shape[0] - KB_SHAPE[0], shape[1] - KB_SHAPE[1]
    if top < 0 or spare < 0:
        raise ContractError(
            f"datasets: {shape[0]} × {shape[1]} pixels arrived; KITTI's benchmark crop needs 352 × 1216"
        )
    return slice(top, shape[0]), slice(spare // 2, spare // 2 + KB_SHAPE[1])
