"""The pictures that the 8-bit network learns from, set by set, and those that it is measured on."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.lab.data.manifest import Frame, by_set, read_manifest
from mrac.lab.train.frames import Frames, scene_of, shrink

_HELD = 8  # of every so many scenes of a set, or frames of a set with few scenes, one is measured on
# Focal length over the width, by which views are turned. It need not be right: the teacher answers for what they show.
_FOCAL = 0.9
_NUM_PIXELS = 420 * 560


def load_pictures(folders: tuple[Path, ...]) -> tuple[list[Frames], list[list[Frame]]]:
    """The pictures of packs, without depth.

    Args:
        folders: each with a manifest.csv.

    Returns:
        To learn from, one `Frames` per set with a depth of one pixel, 0; and the frames to measure on, per set.

    Raises:
        ContractError: there is no set, or one of fewer than two frames; a manifest is missing, or a picture cannot be
            read.
    """
    learned, held = [], []
    for name, frames in by_set(chain.from_iterable(map(read_manifest, folders))).items():
        if len(frames) < 2:
            raise ContractError(f"train: set {name} has {len(frames)} frame; two or more are needed")
        measured = _held_out(frames)
        learned.append(_load([frame for frame in frames if frame.name not in measured]))
        held.append([frame for frame in frames if frame.name in measured])
    if not learned:
        raise ContractError(f"train: {' and '.join(map(str, folders))} list no frame; at least one set is needed")
    return learned, held


def _held_out(frames: list[Frame]) -> set[str]:
    """Names of every eighth scene's frames; of a set with few scenes, the last eighth of its frames."""
    scenes = sorted({scene_of(frame) for frame in frames})
    if len(scenes) >= _HELD:
        chosen = set(scenes[_HELD - 1 :: _HELD])
        return {frame.name for frame in frames if scene_of(frame) in chosen}
    return {frame.name for frame in frames[-max(1, len(frames) // _HELD) :]}


def _load(frames: list[Frame]) -> Frames:
    def read(frame: Frame) -> ImageArray:
        image = frame.image()
        return shrink(image, np.zeros(image.shape[:2], np.float32), _NUM_PIXELS)[0]

    with ThreadPoolExecutor() as pool:
        images = list(pool.map(read, frames))
    h, w = (min(image.shape[axis] for image in images) for axis in (0, 1))
    stacked = np.stack([image[:h, :w] for image in images]).transpose(0, 3, 1, 2)
    num = len(frames)
    return Frames(
        torch.from_numpy(np.ascontiguousarray(stacked)),
        torch.zeros(num, 1, 1),
        torch.full((num,), w * _FOCAL),
        tuple(frame.name for frame in frames),
        tuple(map(scene_of, frames)),
    )
