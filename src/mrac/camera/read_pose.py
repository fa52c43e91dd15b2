"""Reads poses from files of any known format."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.camera import kitti, nuscenes
from mrac.camera.pose import Pose
from mrac.camera.read import is_json, json_of, text_of
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.arrays import read_array
from mrac.io.input_file import as_path

_MATRICES: Final = ("matrix", "transform", "transformation", "extrinsic", "extrinsics", "T", "pose")


def read_pose(path: Path | str, camera: str | int | None = None) -> Pose:
    """Reads a pose, as the file states it: whichever way it leads; `inverse()` and `@` do the rest.

    Args:
        path: of a 4×4 or 3×4 matrix as .npy or text (rows on lines, or all numbers on one); JSON with `matrix`, or
            `rotation` (quaternion w, x, y, z as nuScenes has it, {x, y, z, w} as ROS, or 3×3) and `translation`; or a
            calibration of KITTI: from the Velodyne's frame to that of rectified camera `camera` (`camera.kitti`).
        camera: KITTI's camera 0 to 3, default 2; nuScenes' token, of a file with several records.

    Raises:
        ContractError: the file is missing or broken, or holds no rigid motion.
    """
    path, which = as_path(path, 'read_pose("pose.txt")'), None if camera is None else str(camera)
    if path.suffix.lower() == ".npy":
        return _pose(path, read_array(path))
    text = text_of(path, "pose")
    # A printed array may begin with a bracket too.
    if text.lstrip().startswith("{") or (is_json(text) and path.suffix.lower() == ".json"):
        return _from_json(path, json_of(path, text), which)
    if kitti.recognises(text) or text.startswith("Tr:"):
        return kitti.read_pose(path, text, which)
    return _pose(path, _numbers(path, text))


def _numbers(path: Path, text: str) -> FloatArray:
    lines = [line.partition("#")[0] for line in text.splitlines()]
    words = " ".join(lines).replace(",", " ").replace(";", " ").replace("[", " ").replace("]", " ").split()
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        raise ContractError(
            f"pose: {path} holds {text[:40]!r}; a 4×4 matrix, JSON with rotation and translation, or KITTI's calib.txt "
            "is needed"
        ) from None


def _from_json(path: Path, content: object, token: str | None) -> Pose:
    if nuscenes.recognises(content) and isinstance(content, list):
        content = nuscenes.record(path, content, token, "rotation")
    if not isinstance(content, Mapping):
        return _pose(path, content)
    if "rotation" in content and "translation" in content:
        return _from_parts(path, content["rotation"], content["translation"])
    stored = next((content[name] for name in _MATRICES if name in content), None)
    if isinstance(stored, Mapping):  # ROS's TransformStamped
        return _from_json(path, stored, token)
    if stored is None:
        raise ContractError(
            f"pose: {path}: `rotation` and `translation`, or a 4×4 `matrix` is needed; its keys are "
            f"{', '.join(map(str, content))[:80]}"
        )
    return _pose(path, stored)


def _from_parts(path: Path, rotation: object, translation: object) -> Pose:
    shift = _vector(path, "translation", translation, "xyz")
    if isinstance(rotation, Mapping):
        return _checked(path, lambda: Pose.from_quaternion(_vector(path, "rotation", rotation, "xyzw"), shift))
    numbers = _vector(path, "rotation", rotation, "")
    if numbers.size == 4:
        return _checked(path, lambda: Pose.from_quaternion(np.roll(numbers, -1), shift))
    if numbers.size != 9:
        raise ContractError(
            f"pose: {path}: rotation has {numbers.size} numbers; a quaternion w, x, y, z or a 3×3 matrix is needed"
        )
    return _pose(path, np.concatenate([numbers.reshape(3, 3), shift[:, None]], axis=1))


def _vector(path: Path, name: str, value: Any, letters: str) -> FloatArray:
    """Numbers from a list, or from a mapping with a key for each letter; of as many as letters, if there are some."""
    try:
        numbers = np.asarray([value[c] for c in letters] if isinstance(value, Mapping) else value, dtype=np.float64)
    except (TypeError, ValueError, KeyError):
        numbers = np.empty(0)
    if not numbers.size or (letters and numbers.size != len(letters)):
        needed = ", ".join(letters) or "numbers"
        raise ContractError(f"pose: {path}: {name} {needed} is needed, {value!r:.80} arrived")
    return numbers.ravel()


def _pose(path: Path, values: object) -> Pose:
    """A pose of 16 or 12 numbers, row by row."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.size not in (12, 16) or (numbers.ndim == 2 and numbers.shape[1] != 4):
        raise ContractError(f"pose: {path} holds an array of shape {numbers.shape}; 4×4 or 3×4 numbers are needed")
    rows = numbers.reshape(-1, 4)
    return _checked(path, lambda: Pose(rows if len(rows) == 4 else np.concatenate([rows, [[0, 0, 0, 1]]])))


def _checked(path: Path, make: Callable[[], Pose]) -> Pose:
    try:
        return make()
    except ContractError as error:
        raise ContractError(f"pose: {path}: {error}") from None
