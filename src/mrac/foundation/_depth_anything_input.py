"""The input of a Depth Anything network from an image, by either of its two resize rules; no torch."""

from typing import Final

from mrac.conventions import FloatArray, ImageArray
from mrac.foundation._input import Settings, covering_size, nearest_size, normalised, pil_resized
from mrac.resample import cubic_taps, sample

RESIZE: Final = ("checkpoint", "original")
SETTINGS: Final = Settings(
    size=(518, 518),
    keep_aspect=True,
    multiple=14,
    resample=3,
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
)


def network_input(image: ImageArray, settings: Settings, resize: str) -> FloatArray:
    """The input (3, h, w) float32 for an image (H, W, 3) uint8.

    Args:
        image: of any size.
        settings: of the checkpoint.
        resize: `checkpoint` as transformers does it, `original` as the authors' own repository; the two agree on
            ordinary photographs, `original` enlarges images smaller than the size further and keeps the height of very
            wide ones.
    """
    shape = (image.shape[0], image.shape[1])
    if resize != "original":
        return normalised(pil_resized(image, nearest_size(shape, settings), settings), settings)
    height, width = covering_size(shape, settings)
    return normalised(sample(image, cubic_taps(shape[0], height), cubic_taps(shape[1], width)), settings)
