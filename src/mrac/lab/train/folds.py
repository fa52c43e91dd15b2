"""Which fold a frame belongs to: by the names of its set and scene, so that every run and machine agree."""

import zlib
from typing import Final

# Sets of one place or one camera are left out whole: the network that is used for them has seen nothing like them.
_WHOLE: Final = {"kitti15": 0, "kitti_seq": 0, "hololens": 1, "mosd": 1, "redkitchen": 1}
_NEVER: Final = ("camvid",)  # without measured depth, nothing is trained on its out-of-fold predictions


def fold_of(set_name: str, scene: str, num_folds: int) -> int:
    """The number, from 0 to `num_folds` − 1, of the network that is trained without `scene`; −1 if there is none."""
    if set_name in _NEVER:
        return -1
    return _WHOLE.get(set_name, zlib.crc32(scene.encode())) % num_folds
