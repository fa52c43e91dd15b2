"""Where a street photograph shows sky: no range sensor says, and a network that is never told answers anything."""

import numpy as np
from scipy import ndimage

from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.foundation.embedded import Embedded
from mrac.io.image import open_image
from mrac.lab.data.manifest import Frame

_BRIGHT = 0.6  # of the brightest channel, in [0, 1]
_WARM = 0.06  # how much redder than blue the sky may be: walls and trucks in the sun are more
_FLAT = 0.02  # gradient of the grey value per pixel
_BESIDE = 15  # columns: a reading speaks for its neighbourhood
_ABOVE = 2  # rows
_RIM = 3  # pixels on either side of a label's edge that teach nothing


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


def labelled_sky(frame: Frame, image: ImageArray) -> FloatArray:
    """(H, W) metres of a street whose sky is labelled: infinite there; elsewhere what the shipped network sees.

    Nobody measured these streets. The network's own answer below the sky keeps a new one from drifting there: taught
    the sky alone, it learned that bright, smooth and leafy things are far.

    Args:
        frame: its column `label` names a picture of classes, `sky_id` the class of the sky.
        image: (H, W, 3) uint8.

    Raises:
        ContractError: the label cannot be read or has another size, or `sky_id` is no whole number.
    """
    try:
        sky_id = int(frame.row["sky_id"])
    except (KeyError, TypeError, ValueError):
        raise ContractError(
            f"train: {frame.folder}: {frame.name} has sky_id = {frame.row.get('sky_id')!r}; the number of the class of "
            "the sky is needed"
        ) from None
    with open_image(frame.file("label")) as stored:
        label = np.asarray(stored)
    if label.shape[:2] != image.shape[:2] or label.ndim != 2:
        raise ContractError(
            f"train: {frame.folder}: the label of {frame.name} is of shape {label.shape}; {image.shape[:2]}, the "
            "image's, is needed"
        )
    sky = label == sky_id
    seen = np.exp(Embedded()(image).values)
    rim = ndimage.binary_dilation(sky, iterations=_RIM) & ~ndimage.binary_erosion(sky, iterations=_RIM, border_value=1)
    return np.where(rim, 0.0, np.where(sky, np.inf, seen)).astype(np.float32)
