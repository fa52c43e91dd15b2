"""Frames of a recording (MCAP, ROS 1, ROS 2): an image with the readings nearest to it in time (extra `robotics`).

Topics are chosen as by `mrac bag` where none is named: the only images, the only readings, or the only ones of a kind.
"""

import weakref
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mrac.batch_jobs.job import Frame
from mrac.batch_jobs.readings import Readings
from mrac.errors import ContractError
from mrac.recordings.opened import is_recording

if TYPE_CHECKING:
    from mrac.recordings.opened import Message, Recording
    from mrac.recordings.run import BagRun
    from mrac.recordings.solve import Frame as Decoded
    from mrac.recordings.topics import Chosen

__all__ = ["frame_content", "frames_in", "is_recording"]


def frames_in(path: Path, kind: str | None = None) -> Iterator[Frame]:
    """The frames of a recording by time; an id is the number and the stamp of the image.

    Raises:
        ContractError: it is not readable, topics are not clear, or no image has readings.
        MissingExtra: rosbags is not installed.
    """
    from mrac.recordings.frames import Window, make_plan  # noqa: PLC0415
    from mrac.recordings.opened import Recording  # noqa: PLC0415
    from mrac.recordings.survey import survey  # noqa: PLC0415

    with Recording(path) as recording:
        chosen = _chosen(recording, kind)
        found = survey(recording, chosen)
        images = make_plan(found, chosen, Window()).images
    stamps = found.tracks[chosen.image].stamps
    for row, image in enumerate(images):
        seconds, nanoseconds = divmod(stamps[int(image)], 1_000_000_000)
        yield Frame(f"{row:06d}_{seconds}.{nanoseconds:09d}", str(path), row=row)


def frame_content(path: str, row: int, readings: Readings) -> "tuple[Message, Decoded]":
    """The image's message as stored, and the frame decoded: pixels, readings, camera.

    Raises:
        ContractError: a message is damaged, or a camera or a transform is missing.
    """
    from mrac.recordings.frames import raw_frames  # noqa: PLC0415

    run = _opened(path, readings)
    frames = raw_frames(run.recording, run.chosen, run.survey, run.plan, row)
    raw = next(frames, None)
    frames.close()  # type: ignore[attr-defined]
    if raw is None:
        raise ContractError(f"{path}: frame {row} cannot be read any more ({'; '.join(run.recording.faults)})")
    return raw.image, run.decoder.decode(raw)


def _chosen(recording: "Recording", kind: str | None) -> "Chosen":
    from mrac.recordings.topics import READING_KINDS, candidates, choose  # noqa: PLC0415

    others = {one for one in READING_KINDS if kind is not None and one != kind}
    return choose([one for one in candidates(recording) if one.use not in others], None, (), None)


@lru_cache(maxsize=2)  # of one job, each process reads through a recording once
def _opened(path: str, readings: Readings) -> "BagRun":
    from mrac.recordings.opened import Recording  # noqa: PLC0415

    recording = Recording(path)
    try:
        run = _run(recording, readings)
    except BaseException:
        recording.close()
        raise
    weakref.finalize(run, recording.close)  # when the cache lets go of it, or at the end
    return run


def _run(recording: "Recording", readings: Readings) -> "BagRun":
    from mrac.camera import read_pose  # noqa: PLC0415
    from mrac.recordings.decode import Geometry, first_size  # noqa: PLC0415
    from mrac.recordings.readings import ReadingOptions  # noqa: PLC0415
    from mrac.recordings.run import BagOptions, BagRun  # noqa: PLC0415
    from mrac.sensors import sensor  # noqa: PLC0415

    chosen = _chosen(recording, readings.kind)
    size = first_size(recording, chosen.image) if readings.camera is not None else None
    geometry = Geometry(
        camera=None if size is None else readings.camera_of(size),
        pose=None if readings.pose is None else read_pose(Path(readings.pose), readings.camera_name),
    )
    options = ReadingOptions(
        sensor=None if readings.sensor is None else sensor(readings.sensor),
        scale=readings.scale,
        max_anchors=readings.max_anchors or ReadingOptions().max_anchors,
    )
    return BagRun(recording, chosen, BagOptions(geometry=geometry, readings=options))
