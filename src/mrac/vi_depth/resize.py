"""Input size of VI-Depth's scale-map learner, and the bicubic resize of maps to it and back."""

from typing import Final

from mrac.conventions import FloatArray
from mrac.resample import cubic_taps, sample

_TARGET_PX: Final = 384
_MULTIPLE: Final = 32  # the network halves its input five times


def learner_shape(frame: tuple[int, int]) -> tuple[int, int]:
    """(h, w) of the learner's input for a frame of (H, W): the longer side 384, each a multiple of 32.

    At 24 : 1 and beyond VI-Depth's short side becomes 0 and it fails; ours stays at 32.
    """
    height, width = frame
    factor = min(_TARGET_PX / height, _TARGET_PX / width)
    return _side(factor * height), _side(factor * width)


def _side(length: float) -> int:
    return max(round(length / _MULTIPLE) * _MULTIPLE, _MULTIPLE)


def resize_cubic(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (H, W) map at `shape` (h, w), float32: bicubic, not antialiased, with overshoot at edges, as in training."""
    return sample(values, cubic_taps(values.shape[0], shape[0]), cubic_taps(values.shape[1], shape[1]))
