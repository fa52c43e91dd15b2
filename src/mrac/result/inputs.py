"""Whether an image, anchors or a camera that come with a call belong to the result."""

from typing import TYPE_CHECKING

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import ImageArray, as_array
from mrac.errors import ContractError
from mrac.result.metric_depth import MetricDepth

if TYPE_CHECKING:
    from mrac.camera import Camera


def checked_image(image: ImageArray | None, result: MetricDepth, where: str) -> ImageArray | None:
    """The image.

    Raises:
        ContractError: it is not (H, W, 3) uint8 of the depth's size.
    """
    if image is None:
        return None
    pixels, wanted = as_array(image, f"{where}: image"), (*result.depth_m.shape, 3)
    if pixels.shape != wanted or pixels.dtype != np.uint8:
        raise ContractError(
            f"{where}: image is {pixels.dtype} of shape {pixels.shape}; the image of this result is needed, uint8 of "
            f"shape {wanted}: give the array that the Calibrator got"
        )
    return pixels


def checked_anchors(anchors: Anchors | None, result: MetricDepth, where: str) -> Anchors | None:
    """The anchors.

    Raises:
        ContractError: they are not as many as the result has verdicts.
    """
    if anchors is not None and len(anchors) != len(result.anchors):
        raise ContractError(
            f"{where}: {len(anchors)} anchors arrived for {len(result.anchors)} verdicts; give those that the "
            "Calibrator got"
        )
    return anchors


def fitted_camera(camera: "Camera", shape: tuple[int, ...], where: str) -> "Camera":
    """The camera at the size of an image of `shape` (H, W), to which it is resized where it was calibrated at another.

    Raises:
        ContractError: its picture has another aspect ratio by more than a pixel.
    """
    from mrac.camera.model import checked_camera  # noqa: PLC0415  (results without points do without it)

    height, width = shape
    checked_camera(camera, where)
    if abs(camera.height * width / camera.width - height) > 1.0:
        raise ContractError(
            f"{where}: the camera is of a {camera.width}×{camera.height} picture, the image is {width}×{height}: a "
            "camera of the same aspect ratio is needed; undo the crop or the turn, or change its numbers"
        )
    return camera if (camera.width, camera.height) == (width, height) else camera.resized(width, height)
