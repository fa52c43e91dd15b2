"""Colour from a Bayer mosaic: each missing colour is the mean of its neighbours that have it."""

from typing import Final

import numpy as np

from mrac.conventions import ImageArray

# By ROS name: the colours (0 red, 1 green, 2 blue) of the upper left 2×2 pixels, row by row.
PATTERNS: Final = {
    "bayer_rggb": ((0, 1), (1, 2)),
    "bayer_bggr": ((2, 1), (1, 0)),
    "bayer_gbrg": ((1, 2), (0, 1)),
    "bayer_grbg": ((1, 0), (2, 1)),
}
_MEAN: Final = np.array([[0.25, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 0.25]])


def demosaic(mosaic: ImageArray, pattern: str) -> ImageArray:
    """(H, W, 3) RGB of a mosaic (H, W) uint8, by normalised bilinear interpolation.

    Args:
        mosaic: one number per pixel, of the colour that its filter lets through.
        pattern: of PATTERNS.
    """
    from scipy.ndimage import convolve  # noqa: PLC0415  (a tenth of a second to import)

    colour_at = np.tile(np.array(PATTERNS[pattern]), (mosaic.shape[0] // 2 + 1, mosaic.shape[1] // 2 + 1))
    colour_at = colour_at[: mosaic.shape[0], : mosaic.shape[1]]
    image = np.empty((*mosaic.shape, 3), np.uint8)
    for colour in range(3):
        has = (colour_at == colour).astype(np.float64)
        total = convolve(mosaic * has, _MEAN, mode="constant")
        # A mosaic of one row or column lacks a colour altogether: it is then black.
        mean = np.rint(total / np.maximum(convolve(has, _MEAN, mode="constant"), 0.25))
        image[..., colour] = np.where(colour_at == colour, mosaic, mean)
    return image
