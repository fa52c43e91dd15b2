"""A recording of `mrac bag` as frames for the viewer: depth, deviation, camera, readings and the copied image."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.camera import Camera
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.recordings.camera_info import camera_of_info
from mrac.recordings.images import colour_image, depth_image
from mrac.recordings.opened import Message, Recording
from mrac.recordings.outputs import REASON_CODES
from mrac.recordings.points import structured
from mrac.recordings.topics import IMAGE_TYPES
from mrac.view.frame import Readings, ViewFrame, checked_maps

_DEPTH: Final = "/depth/image"
_PARTS: Final = {"depth/image": "depth", "depth/sigma": "sigma", "depth/camera_info": "info", "readings": "readings"}
_WORDS: Final = {code: word for word, code in REASON_CODES.items()}
# Copied images have the time at which they were recorded, results that of the image: so far apart they may lie.
_WAITING: Final = 32


def recorded_frames(path: Path, image_topic: str | None = None) -> Iterator[ViewFrame]:
    """The frames of a recording that `mrac bag` wrote, in their order, few of them in memory.

    Args:
        path: of the recording.
        image_topic: of the photo; by default the only topic of images besides the results (`mrac bag --copy TOPIC`).

    Raises:
        ContractError: it cannot be read, or has no results, or the topic is not there.
        MissingExtra: rosbags is not installed.
    """
    with Recording(path) as recording:
        prefix = _prefix(recording)
        topics = {f"{prefix}/{name}": part for name, part in _PARTS.items() if f"{prefix}/{name}" in recording.topics}
        photo = _photo_topic(recording, prefix, image_topic)
        topics |= {} if photo is None else {photo: "photo"}
        waiting: dict[int, dict[str, Message]] = {}
        for message in recording.messages(list(topics)):
            stamp = recording.measured_ns(message)
            waiting.setdefault(stamp, {})[topics[message.topic]] = message
            if len(waiting) > _WAITING:
                yield from _frame(recording, *_first(waiting), photo)
        while waiting:
            yield from _frame(recording, *_first(waiting), photo)


def _first(waiting: dict[int, dict[str, Message]]) -> tuple[int, dict[str, Message]]:
    # Not that of the least stamp: after a clock that was set back, that one has only just begun to arrive.
    stamp = next(iter(waiting))
    return stamp, waiting.pop(stamp)


def _prefix(recording: Recording) -> str:
    found = [
        name.removesuffix(_DEPTH)
        for name, topic in recording.topics.items()
        if name.endswith(_DEPTH) and f"{name.removesuffix(_DEPTH)}/diagnostics" in recording.topics
    ]
    if len(found) != 1:
        what = "no results of `mrac bag`" if not found else f"several: {', '.join(sorted(found))}"
        raise ContractError(f"view: {recording.path}: {what}; a recording that `mrac bag IN --out OUT` wrote is needed")
    return found[0]


def _photo_topic(recording: Recording, prefix: str, named: str | None) -> str | None:
    pictures = [
        name
        for name, topic in recording.topics.items()
        if topic.type in IMAGE_TYPES and not name.startswith(f"{prefix}/") and (named or "depth" not in name.lower())
    ]
    if named is not None and named not in pictures:
        raise ContractError(
            f"view: {recording.path}: no images under {named!r}; there are {', '.join(pictures) or 'none'}"
        )
    return named or (pictures[0] if len(pictures) == 1 else None)


def _frame(recording: Recording, stamp: int, parts: dict[str, Message], photo: str | None) -> Iterator[ViewFrame]:
    """The frame of a stamp; none where there is a photo alone."""
    if "depth" not in parts:
        return
    depth_m = _map(recording.decoded(parts["depth"]))
    sigma_m = _map(recording.decoded(parts["sigma"])) if "sigma" in parts else None
    name = f"{stamp / 1e9:.3f} s"
    checked_maps(name, depth_m, sigma_m)
    frame = ViewFrame(name=name, depth_m=depth_m, sigma_m=sigma_m, time_ns=stamp)
    if "info" in parts:
        camera: Camera = camera_of_info(recording.decoded(parts["info"]), parts["info"].topic)
        frame = frame.with_camera(camera, parts["info"].topic)
    else:
        frame = frame.noted("camera: none is recorded, so there are no points in space; --camera FILE shows them")
    if "readings" in parts:
        frame = replace(frame, readings=_readings(recording.decoded(parts["readings"])))
    if "photo" in parts:
        frame = frame.with_image(colour_image(recording.decoded(parts["photo"])), f"image {photo}")
    elif photo is None:
        frame = frame.noted(
            "image: the recording has none, or several: `mrac bag --copy TOPIC` writes it, --image-topic names it"
        )
    yield frame


def _map(message: Any) -> FloatArray:
    values, per_metre = depth_image(message)
    return (np.asarray(values, np.float64) / per_metre).astype(np.float32)


def _readings(message: Any) -> Readings:
    cloud = structured(message)
    reason = [_WORDS.get(int(code), "other") for code in cloud["reason"]]
    return Readings(
        uv_px=np.stack([cloud["u"], cloud["v"]], axis=1).astype(np.float64),
        z_m=np.asarray(cloud["z"], np.float64),
        keep=np.asarray(cloud["keep"], np.bool_),
        reason=np.array(reason, np.str_),
        outlier_probability=np.asarray(cloud["outlier_probability"], np.float64),
    )
