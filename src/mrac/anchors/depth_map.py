"""Anchors from a depth map, sparse or dense, of the image's camera or of another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.anchors._confidence import as_probability
from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.anchors.registration import register
from mrac.camera import Camera, Pose
from mrac.conventions import FloatArray, as_array, in_image
from mrac.errors import ContractError
from mrac.io.raster import Raster, read_raster
from mrac.units import DEPTH_SCALES, per_metre


def from_depth_map(  # noqa: PLR0913  (one option for each thing that files leave open)
    depth: ArrayLike | Path | str,
    *,
    scale: str | float | None = None,
    confidence: ArrayLike | Path | str | None = None,
    confidence_levels: str | Sequence[float] | None = None,
    image_size: tuple[int, int] | None = None,
    camera: Camera | None = None,
    depth_camera: Camera | None = None,
    pose: Pose | None = None,
    stride: int = 1,
    max_anchors: int | None = None,
) -> Anchors:
    """Anchors at the pixels of a depth map that have a reading: not 0, below 0, NaN or infinite.

    Without `depth_camera`, the map and the image have one field of view, at any two sizes. With it, the map is of
    another camera, and is registered: points hidden from the image's camera are flagged `occluded`, points outside
    its image are left out.

    Args:
        depth: (h, w) z, or a file: PNG, TIFF, EXR (extra `sensors`) or NPY.
        scale: stored units per metre, or their name: `tum` 5000, `kitti` 256, `realsense`, `scannet` and `mm` 1000, `m`
            1. None: floats are metres; of whole numbers, the file must state it, as the depth PNGs of this package do.
        confidence: (h, w) the sensor's own, or a file; levels, amplitudes or probabilities.
        confidence_levels: what `confidence` means; see `anchors._confidence.as_probability`.
        image_size: (width, height) of the image; by default the camera's, or else that of the map.
        camera: of the image; needed with `depth_camera`.
        depth_camera: of the map, at the map's size.
        pose: camera from depth camera; None: none lies between them.
        stride: one reading for each square of so many pixels of the map: the most confident one (to a tenth), and
            among these the nearest to the square's centre.
        max_anchors: the most readings; the stride is then the least, from the given one on, that gives no more.

    Raises:
        ContractError: a file cannot be read, the scale is not known, or sizes contradict each other.
    """
    z_m = _metres(depth, scale)
    h, w = z_m.shape
    size = _image_size(image_size, camera, depth_camera, pose, (w, h))
    prior = None if confidence is None else _prior(confidence, confidence_levels, (h, w))
    v, u = np.nonzero(np.isfinite(z_m) & (z_m > 0.0))
    z = z_m[v, u]
    uv: FloatArray = np.stack([u, v], axis=1).astype(np.float64)
    sure = None if prior is None else prior[v, u]
    flag = np.full(z.size, UNFLAGGED, "<U8")
    if depth_camera is not None and camera is not None:
        at, z, hidden = register(uv, z, depth_camera, camera.resized(*size), pose)
        flag[hidden] = "occluded"
    else:
        at = (uv + 0.5) * (size[0] / w, size[1] / h) - 0.5
    every = Anchors(at, z, confidence=sure, flag=flag if depth_camera is not None else None)
    chosen = np.flatnonzero(in_image(at, size))
    return every.take(chosen[_spread(uv[chosen], None if sure is None else sure[chosen], stride, max_anchors)])


def _metres(depth: ArrayLike | Path | str, scale: str | float | None) -> FloatArray:
    """(h, w) float64 metres."""
    where = f"depth_map: {depth}" if isinstance(depth, Path | str) else "depth_map"
    values, stated = _raster(depth, "depth")
    stored = stated if scale is None else per_metre(scale, "depth_map")
    if stored is None and values.dtype.kind != "f":
        raise ContractError(
            f"{where} holds {values.dtype} and does not state its scale; give it: scale=256 (--anchors-scale) or "
            f"a name, {', '.join(DEPTH_SCALES)}"
        )
    return np.asarray(values.astype(np.float64) / (stored or 1.0))


def _raster(source: ArrayLike | Path | str, name: str) -> Raster:
    if isinstance(source, Path | str):
        return read_raster(source)
    # Not NaN: a map of whole numbers has to stay one, since its units depend on that.
    values = as_array(source, f"depth_map: {name}", missing=0.0)
    if values.ndim != 2 or not values.size or values.dtype.kind not in "fiu":
        raise ContractError(f"depth_map: {name} is {values.dtype} {values.shape}; (h, w) numbers are needed")
    return Raster(values, None)


def _prior(source: ArrayLike | Path | str, meaning: str | Sequence[float] | None, shape: tuple[int, int]) -> FloatArray:
    values: NDArray[Any] = _raster(source, "confidence").values
    if values.shape != shape:
        raise ContractError(f"depth_map: confidence has shape {values.shape}, depth {shape}; the same is needed")
    return as_probability(values, meaning)


def _image_size(
    given: tuple[int, int] | None,
    camera: Camera | None,
    depth_camera: Camera | None,
    pose: Pose | None,
    map_size: tuple[int, int],
) -> tuple[int, int]:
    """(width, height) of the image."""
    if depth_camera is not None:
        if camera is None:
            raise ContractError("depth_map: depth_camera arrived without camera; both are needed for registration")
        if (depth_camera.width, depth_camera.height) != map_size:
            raise ContractError(
                f"depth_map: depth_camera is of {depth_camera.width}×{depth_camera.height} pixels, the map of "
                f"{map_size[0]}×{map_size[1]}; depth_camera.resized{map_size} is that of the map if both show the same"
            )
    elif pose is not None:
        raise ContractError("depth_map: pose arrived without depth_camera; both are needed for registration")
    size = given or (map_size if camera is None else (camera.width, camera.height))
    if min(size) < 1:
        raise ContractError(f"depth_map: image_size {size} arrived; (width, height) of pixels > 0 is needed")
    return size


def _spread(uv: FloatArray, confidence: FloatArray | None, stride: int, max_anchors: int | None) -> NDArray[np.intp]:
    """Which of (N, 2) pixels of the map are taken: one for each square of `stride`, at most `max_anchors`."""
    if stride < 1 or (max_anchors is not None and max_anchors < 1):
        raise ContractError(f"depth_map: stride {stride}, max_anchors {max_anchors} arrived; numbers >= 1 are needed")
    if not len(uv):
        return np.zeros(0, np.intp)
    low, high = stride, int(uv.max()) + 1
    limit = len(uv) if max_anchors is None else max_anchors
    while low < high:  # a larger square never gives more readings, but for rounding at the border
        middle = (low + high) // 2
        if _num_squares(uv, middle) <= limit:
            high = middle
        else:
            low = middle + 1
    return _of_squares(uv, confidence, low) if low > 1 else np.arange(len(uv))


def _num_squares(uv: FloatArray, side: int) -> int:
    u, v = (uv // side).astype(np.int64).T
    return int(np.unique(v * (u.max() + 1) + u).size)


def _of_squares(uv: FloatArray, confidence: FloatArray | None, side: int) -> NDArray[np.intp]:
    cell = (uv // side).astype(np.int64)
    off = np.hypot(*(uv - (cell * side + 0.5 * (side - 1))).T)
    doubt = np.zeros(len(uv)) if confidence is None else -np.round(confidence, 1)
    number = cell[:, 1] * (cell[:, 0].max() + 1) + cell[:, 0]
    order = np.lexsort((off, doubt, number))
    return np.asarray(order[np.diff(number[order], prepend=-1) > 0])
