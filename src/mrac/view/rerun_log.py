"""Frames to rerun: a running viewer, or an .rrd file that it opens later."""

import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from mrac.conventions import FloatArray, ImageArray, in_image
from mrac.errors import ContractError, MissingExtra
from mrac.io.picture import depth_limits, verdict_colour
from mrac.view.frame import Readings, ViewFrame

_NAME: Final = "mrac"
_CAMERA: Final = "world/camera"
_JPEG_QUALITY: Final = 90
# Rerun puts the corner of the first pixel at (0, 0); ours is its centre.
_CORNER_PX: Final = 0.5


def save_recording(frames: Iterable[ViewFrame], path: Path, *, stride: int = 2) -> int:
    """Writes an .rrd file, whole or not at all, and returns the number of frames.

    Args:
        frames: taken one at a time.
        path: of the file.
        stride: of every so many rows and columns, one pixel becomes a point.

    Raises:
        ContractError: the path does not end in .rrd, or a frame cannot be read.
        MissingExtra: rerun is not installed.
    """
    if path.suffix.lower() != ".rrd":
        raise ContractError(f"view: --save {path} ends in {path.suffix!r}; .rrd is needed")
    rr = _rerun()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.rrd")
    try:
        recording = rr.RecordingStream(_NAME)
        recording.save(part, default_blueprint=_blueprint())
        count = _log_all(rr, recording, frames, stride)
        recording.flush()
        recording.disconnect()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


def show(frames: Iterable[ViewFrame], *, stride: int = 2) -> int:
    """Opens the viewer of rerun, a program of its own, waits until it is closed, and returns the number of frames.

    The viewer listens on the loopback interface alone; started in rerun's own way it would listen on all.

    Args:
        frames: taken one at a time.
        stride: of every so many rows and columns, one pixel becomes a point.

    Raises:
        ContractError: the viewer ends with an error, or a frame cannot be read.
        MissingExtra: rerun is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="mrac-view-") as folder:
        path = Path(folder) / "mrac.rrd"
        count = save_recording(frames, path, stride=stride)
        done = subprocess.run([sys.executable, "-m", "rerun", "--bind", "127.0.0.1", str(path)], check=False)
    if done.returncode:
        raise ContractError(
            f"view: rerun's viewer ended with code {done.returncode}; without a screen, --save FILE.rrd writes a file"
        )
    return count


def _rerun() -> ModuleType:
    try:
        import rerun  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("view", "view") from None
    return rerun


def _blueprint() -> Any:
    """Points in space on the left; image, maps and words on the right."""
    from rerun import blueprint as rrb  # noqa: PLC0415

    maps = rrb.Tabs(
        rrb.Spatial2DView(origin="depth", name="depth, m"), rrb.Spatial2DView(origin="sigma", name="sigma, m")
    )
    words = rrb.TextDocumentView(origin="summary", name="summary")
    right = rrb.Vertical(rrb.Spatial2DView(origin=_CAMERA, name="image, readings"), maps, words, row_shares=[3, 3, 2])
    return rrb.Blueprint(rrb.Horizontal(rrb.Spatial3DView(origin="world", name="points"), right, column_shares=[3, 2]))


def _log_all(rr: Any, recording: Any, frames: Iterable[ViewFrame], stride: int) -> int:
    recording.log("world", rr.ViewCoordinates.RDF, static=True)  # x right, y down, z forward
    count = 0
    for number, frame in enumerate(frames):
        recording.set_time("frame", sequence=number)
        if frame.time_ns is not None:
            recording.set_time("time", timestamp=np.datetime64(frame.time_ns, "ns"))
        _log_frame(rr, recording, frame, stride)
        count += 1
    return count


def _log_frame(rr: Any, recording: Any, frame: ViewFrame, stride: int) -> None:
    """One frame; what it lacks is cleared, so that no other frame's is seen in its place."""
    H, W = frame.depth_m.shape
    recording.log("summary", rr.TextDocument(_words(frame), media_type="text/markdown"))
    recording.log("depth", _map(rr, frame.depth_m, "turbo"))
    nothing = rr.Clear(recursive=False)
    recording.log("sigma", nothing if frame.sigma_m is None else _map(rr, frame.sigma_m, "viridis"))
    photo = nothing if frame.image is None else rr.Image(frame.image).compress(jpeg_quality=_JPEG_QUALITY)
    recording.log(f"{_CAMERA}/image", photo)
    if frame.camera is None:
        recording.log(_CAMERA, nothing)
        recording.log("world/points", nothing)
    else:
        camera = frame.camera
        near = float(np.percentile(frame.depth_m, 5))
        pinhole = rr.Pinhole(
            focal_length=(camera.fx_px, camera.fy_px),
            principal_point=(camera.cx_px + _CORNER_PX, camera.cy_px + _CORNER_PX),
            resolution=(W, H),
            camera_xyz=rr.ViewCoordinates.RDF,
            image_plane_distance=near / 2,
        )
        recording.log(_CAMERA, pinhole)
        recording.log("world/points", _cloud(rr, frame, stride))
    _log_readings(rr, recording, frame)


def _map(rr: Any, values: FloatArray, colours: str) -> Any:
    image = np.ascontiguousarray(values, np.float32)
    return rr.DepthImage(image, meter=1.0, colormap=colours, depth_range=depth_limits(values))


def _cloud(rr: Any, frame: ViewFrame, stride: int) -> Any:
    assert frame.camera is not None
    H, W = frame.depth_m.shape
    v, u = (axis.ravel() for axis in np.mgrid[0:H:stride, 0:W:stride])
    xyz_m = frame.camera.unproject(np.stack([u, v], axis=1), frame.depth_m[v, u])
    seen = np.isfinite(xyz_m[:, 0])
    colours = None if frame.image is None else frame.image[v, u][seen]
    return rr.Points3D(xyz_m[seen].astype(np.float32), colors=colours, radii=rr.Radius.ui_points(1.5))


def _log_readings(rr: Any, recording: Any, frame: ViewFrame) -> None:
    readings, (H, W) = frame.readings, frame.depth_m.shape
    inside = np.zeros(0, np.intp) if readings is None else np.flatnonzero(in_image(readings.uv_px, (W, H)))
    if readings is None or not inside.size:
        recording.log(f"{_CAMERA}/image/readings", rr.Clear(recursive=False))
        recording.log("world/readings", rr.Clear(recursive=False))
        return
    uv_px, colours, labels = readings.uv_px[inside], _colours(readings)[inside], _labels(readings, frame.depth_m)
    shown = [labels[k] for k in inside]
    dots = rr.Points2D(
        uv_px + _CORNER_PX, colors=colours, labels=shown, show_labels=False, radii=rr.Radius.ui_points(5.0)
    )
    recording.log(f"{_CAMERA}/image/readings", dots)
    z_m = readings.z_m[inside]
    real = np.isfinite(z_m) & (z_m > 0.0)
    if frame.camera is None or not real.any():
        recording.log("world/readings", rr.Clear(recursive=False))
        return
    balls = rr.Points3D(
        frame.camera.unproject(uv_px[real], z_m[real]),
        colors=colours[real],
        labels=[label for label, is_real in zip(shown, real, strict=True) if is_real],
        show_labels=False,
        radii=rr.Radius.ui_points(6.0),
    )
    recording.log("world/readings", balls)


def _colours(readings: Readings) -> ImageArray:
    """(K, 3) the colours of the previews: white is kept."""
    words = [verdict_colour(bool(keep), str(why)) for keep, why in zip(readings.keep, readings.reason, strict=True)]
    return np.array([[int(word[i : i + 2], 16) for i in (1, 3, 5)] for word in words], np.uint8)


def _labels(readings: Readings, depth_m: FloatArray) -> list[str]:
    """For each reading: kept or not and why, the probability, what it says and how far that is from the map."""
    H, W = depth_m.shape
    at = np.nan_to_num(np.rint(readings.uv_px)).astype(np.intp).clip(0, (W - 1, H - 1))
    residual_m = readings.z_m - depth_m[at[:, 1], at[:, 0]]
    columns = zip(readings.keep, readings.reason, readings.outlier_probability, readings.z_m, residual_m, strict=True)
    return [
        f"{'kept' if keep else 'rejected'}: {why}; P(wrong) {chance:.2f}; reads {z:.2f} m, {off:+.2f} m from the map"
        for keep, why, chance, z, off in columns
    ]


def _words(frame: ViewFrame) -> str:
    lines = [f"## {frame.name}", *(f"- {line}" for line in frame.summary)]
    if frame.readings is not None:
        lines.append(f"- readings: {int(frame.readings.keep.sum())} of {frame.readings.keep.size} kept")
    low, high = float(frame.depth_m.min()), float(frame.depth_m.max())
    return "\n".join([*lines, f"- depth: {low:.2f} to {high:.2f} m", *(f"- *{note}*" for note in frame.notes)])
