"""Results on disk as frames for the viewer: a folder of `mrac calibrate`, an .npz, or a folder of many of either."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.anchors import read_anchors
from mrac.camera import Camera, read_camera
from mrac.errors import ContractError, MracError
from mrac.io.arrays import read_arrays
from mrac.io.image import read_image
from mrac.io.input_file import read_json
from mrac.view.frame import Readings, ViewFrame, checked_maps

_VERDICTS: Final = ("keep", "reason", "outlier_probability")


def result_paths(path: Path) -> list[Path]:
    """The results that a path stands for, in the order of their names.

    Raises:
        ContractError: there is none.
    """
    if path.is_file() or (path / "report.json").is_file():
        return [path]
    inside = sorted(path.iterdir()) if path.is_dir() else []
    found = [one for one in inside if (one / "report.json").is_file() or one.suffix.lower() == ".npz"]
    if not found:
        what = "no result in it" if path.is_dir() else "no such file or folder"
        raise ContractError(
            f"view: {path}: {what}; a folder of `mrac calibrate` (report.json), an .npz of it, a folder of these, or a "
            "recording of `mrac bag` is needed"
        )
    return found


def read_result(path: Path) -> ViewFrame:
    """A folder with depth.npz and report.json, or an .npz with depth_m and, of MetricDepth.save, sigma_m and verdicts.

    Image and camera are those that the report names, where they still are there; a note says what is not.

    Raises:
        ContractError: a file is missing or broken.
    """
    if path.is_file():
        if path.suffix.lower() != ".npz":
            raise ContractError(f"view: {path} ends in {path.suffix!r}; an .npz or a folder of results is needed")
        return _from_arrays(path)
    report = _report(path / "report.json")
    frame = _from_arrays(path / "depth.npz", path.name)
    inputs = report.get("inputs")
    inputs = inputs if isinstance(inputs, Mapping) else {}
    frame = replace(frame, readings=_readings(report.get("anchors")), summary=tuple(_summary(report)))
    if frame.readings is None:
        frame = frame.noted("the report does not say where the readings lie: left out")
    return _with_camera(_with_image(frame, inputs), inputs)


def with_given(frame: ViewFrame, image: Path | None, camera: Path | None, anchors: Path | None) -> ViewFrame:
    """The frame with files that the user named, in place of those of its report.

    Raises:
        ContractError: a file cannot be read, or is of another frame.
    """
    if image is not None:
        frame = _without_notes(frame, "image").with_image(read_image(image), f"image {image}")
    if camera is not None:
        size = (frame.depth_m.shape[1], frame.depth_m.shape[0])
        frame = _without_notes(frame, "camera").with_camera(read_camera(camera, size=size), str(camera))
    if anchors is not None:
        frame = _with_anchors(frame, anchors)
    return frame


def _from_arrays(path: Path, name: str | None = None) -> ViewFrame:
    optional = ("sigma_m", *_VERDICTS)
    arrays = read_arrays(path, needed=("depth_m",), optional=optional)
    depth_m, sigma_m = arrays["depth_m"], arrays.get("sigma_m")
    checked_maps(str(path), depth_m, sigma_m)
    frame = ViewFrame(name=name or path.stem, depth_m=depth_m, sigma_m=sigma_m)
    if name is not None:
        return frame
    verdicts: dict[str, NDArray[Any]] = {key: arrays[key] for key in _VERDICTS if key in arrays}
    if len(verdicts) == len(_VERDICTS):
        K = verdicts["keep"].size
        nowhere = {"uv_px": np.full((K, 2), np.nan), "z_m": np.full(K, np.nan)}
        frame = replace(frame, readings=Readings(**nowhere, **verdicts)).noted(
            "readings: the .npz does not hold where they lie; --anchors FILE shows them"
        )
    return frame.noted("image: an .npz holds none; --image FILE shows it").noted(_NO_CAMERA)


_NO_CAMERA: Final = "camera: none is known, so there are no points in space; --camera FILE shows them"


def _report(path: Path) -> dict[str, Any]:
    content = read_json(path, "view")
    if not isinstance(content, dict):
        raise ContractError(f"view: {path} holds a {type(content).__name__}; a report of `mrac calibrate` is needed")
    return content


def _readings(entries: object) -> Readings | None:
    """Of the report; None where it has no positions, or is of another make."""
    if not isinstance(entries, list):
        return None
    try:
        columns = {name: [entry[name] for entry in entries] for name in ("u", "v", "z_m", *_VERDICTS)}
        return Readings(
            uv_px=np.array([columns["u"], columns["v"]], np.float64).T.reshape(-1, 2),
            z_m=np.array(columns["z_m"], np.float64),  # NaN and infinities are text, which this reads too
            keep=np.array(columns["keep"], np.bool_),
            reason=np.array(columns["reason"], np.str_),
            outlier_probability=np.array(columns["outlier_probability"], np.float64),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _summary(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"status: {report.get('status', 'unknown')}"
    stages = report.get("stages")
    if isinstance(stages, Mapping):
        yield "stages: " + ", ".join(f"{stage} {name}" for stage, name in stages.items())
    for finding in report.get("warnings") or ():
        if isinstance(finding, Mapping):
            yield f"warning: {finding.get('message', finding)}: {finding.get('advice', '')}"


def _with_image(frame: ViewFrame, inputs: Mapping[str, Any]) -> ViewFrame:
    named = inputs.get("image")
    if not isinstance(named, str):
        return frame.noted("image: the report names none; --image FILE shows it")
    return _tried(frame, "image", named, lambda: frame.with_image(read_image(named), f"image {named}"))


def _with_camera(frame: ViewFrame, inputs: Mapping[str, Any]) -> ViewFrame:
    named, which = inputs.get("camera_path"), inputs.get("camera_name")
    if not isinstance(named, str):
        return frame.noted(_NO_CAMERA)

    def read() -> ViewFrame:
        size = (frame.depth_m.shape[1], frame.depth_m.shape[0])
        camera: Camera = read_camera(named, which, size=size)
        return frame.with_camera(camera, named)

    return _tried(frame, "camera", named, read)


def _tried(frame: ViewFrame, what: str, named: str, read: Callable[[], ViewFrame]) -> ViewFrame:
    """What `read` gives; a file that has moved, or that is none, is left out with a word."""
    try:
        return read()
    except (MracError, OSError) as error:
        return frame.noted(f"{what}: {named} of the report cannot be read ({error}): left out; --{what} FILE shows it")


def _with_anchors(frame: ViewFrame, path: Path) -> ViewFrame:
    anchors = read_anchors(path, image_shape=(frame.depth_m.shape[0], frame.depth_m.shape[1]))
    verdicts, K = frame.readings, len(anchors)
    if verdicts is None or verdicts.keep.size != K:
        judged = 0 if verdicts is None else verdicts.keep.size
        raise ContractError(f"view: --anchors {path}: {K} readings for {judged} verdicts; give those of this result")
    placed = replace(verdicts, uv_px=anchors.uv_px, z_m=anchors.z_m)
    return replace(_without_notes(frame, "readings"), readings=placed)


def _without_notes(frame: ViewFrame, about: str) -> ViewFrame:
    notes = tuple(note for note in frame.notes if not note.startswith(f"{about}:"))
    return replace(frame, notes=notes)
