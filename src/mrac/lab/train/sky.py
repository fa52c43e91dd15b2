"""Where a street photograph shows sky: no range sensor says, and a network that is never told answers anything."""

import numpy as np
from scipy import ndimage

from mrac.conventions import BoolArray, FloatArray, ImageArray

_BRIGHT = 0.6  # of the brightest channel, in [0, 1]
_WARM = 0.06  # how much redder than blue the sky may be: walls and trucks in the sun are more
_FLAT = 0.02  # gradient of the grey value per pixel
_BESIDE = 15  # columns: a reading speaks for its neighbourhood
_ABOVE = 2  # rows


def find_sky(image: ImageArray, z_m: FloatArray) -> BoolArray:
    """The bright, smooth, not reddish region that reaches the top of the picture and lies above every reading.

    Made to be wrong rarely rather than complete: leaves, wires and the rim of the region stay out. It was looked at on
    16 of the 80 KITTI frames of the training pack; on the drive that waits beside a white tanker, it takes a part of
    the tank for sky, so that set goes without.

    Args:
        image: (H, W, 3) uint8.
        z_m: (H, W) readings; <= 0 is none.

    Returns:
        (H, W).
    """
    H = z_m.shape[0]
    colour = image.astype(np.float32) / 255.0
    flat = ndimage.gaussian_gradient_magnitude(colour.mean(axis=2), 1.0) < _FLAT
    like_sky = flat & (colour.max(axis=2) > _BRIGHT) & (colour[..., 2] >= colour[..., 0] - _WARM)
    measured = z_m > 0
    first_row = np.where(measured.any(axis=0), measured.argmax(axis=0), H)
    first_row = ndimage.minimum_filter1d(first_row, _BESIDE, mode="nearest")
    above = np.arange(H)[:, None] < first_row[None, :] - _ABOVE
    labels, _ = ndimage.label(like_sky & above)
    at_top = np.unique(labels[0][labels[0] > 0])
    region = ndimage.binary_opening(np.isin(labels, at_top), iterations=2)
    return np.asarray(ndimage.binary_erosion(region, border_value=1))
