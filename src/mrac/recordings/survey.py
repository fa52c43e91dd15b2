"""The first reading of a recording: when each message was measured, cameras, transforms. No image is decoded."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mrac.camera import Camera
from mrac.errors import ContractError
from mrac.recordings.camera_info import camera_of_info
from mrac.recordings.opened import Recording
from mrac.recordings.topics import TF_TYPES, Chosen, is_rectified
from mrac.recordings.transforms import TransformTree


@dataclass(eq=False)
class Track:
    """The messages of one topic: when each was measured and recorded. 16 bytes for each.

    Attributes:
        stamps: of their headers, in nanoseconds; where a header has none, the time it was recorded at.
        logs: the times they were recorded at.
        frames: the frames that their headers name.
        num_unstamped: headers without a stamp.
    """

    stamps: "array[int]" = field(default_factory=lambda: array("q"))
    logs: "array[int]" = field(default_factory=lambda: array("q"))
    frames: set[str] = field(default_factory=set)
    num_unstamped: int = 0

    @property
    def stamps_ns(self) -> NDArray[np.int64]:
        """(N,) stamps."""
        return np.array(self.stamps, np.int64)

    @property
    def logs_ns(self) -> NDArray[np.int64]:
        """(N,) times of recording."""
        return np.array(self.logs, np.int64)


@dataclass(eq=False)
class Cameras:
    """The camera of an image topic over time: a CameraInfo holds until another one comes."""

    stamps: list[int] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    fault: str = ""

    def add(self, stamp_ns: int, camera: Camera) -> None:
        """Adds one, if it is another one than the last."""
        if not self.cameras or self.cameras[-1] != camera:
            self.stamps.append(stamp_ns)
            self.cameras.append(camera)

    def at(self, stamp_ns: int) -> Camera | None:
        """The last one up to a time, or the first; None if there is none."""
        if not self.cameras:
            return None
        return self.cameras[max(int(np.searchsorted(self.stamps, stamp_ns, side="right")) - 1, 0)]


@dataclass(eq=False)
class Survey:
    """What the first reading found.

    Attributes:
        tracks: by topic, images and readings.
        cameras: by topic of an image or a depth image.
        transforms: of all frames.
        num_broken: messages without a readable header, by topic.
    """

    tracks: dict[str, Track]
    cameras: dict[str, Cameras]
    transforms: TransformTree
    num_broken: dict[str, int]


def survey(recording: Recording, chosen: Chosen, report: Callable[[int], object] = lambda number: None) -> Survey:
    """Reads all messages of the chosen topics, their cameras and transforms once.

    Args:
        recording: opened.
        chosen: its topics.
        report: called with the number of messages read, now and then.
    """
    measured = [chosen.image, *dict.fromkeys(topic for _, topic in chosen.readings)]
    infos: dict[str, list[str]] = {}
    for image, info in ((chosen.image, chosen.info), *chosen.depth_infos.items()):
        if info:
            infos.setdefault(info, []).append(image)
    tf = [topic.name for topic in recording.topics.values() if topic.type in TF_TYPES]
    found = Survey(
        {topic: Track() for topic in measured},
        {image: Cameras() for images in infos.values() for image in images},
        TransformTree(),
        {},
    )
    last_info: dict[str, bytes] = {}
    for number, message in enumerate(recording.messages([*measured, *infos, *tf])):
        if number % 256 == 0:
            report(number)
        try:
            if message.topic in tf:
                static = message.topic.endswith("tf_static")
                found.transforms.add(recording.decoded(message), static=static)
                continue
            header = recording.header(message)
            if message.topic in found.tracks:
                _note(found.tracks[message.topic], header.stamp_ns, message.log_ns, header.frame)
            elif message.raw[16:] != last_info.get(message.topic):  # all but the stamp
                last_info[message.topic] = message.raw[16:]
                for image in infos[message.topic]:
                    stamp_ns = header.stamp_ns or message.log_ns
                    _note_camera(found.cameras[image], recording.decoded(message), message.topic, image, stamp_ns)
        except ContractError:
            found.num_broken[message.topic] = found.num_broken.get(message.topic, 0) + 1
    return found


def _note(track: Track, stamp_ns: int, log_ns: int, frame: str) -> None:
    track.num_unstamped += stamp_ns == 0
    track.stamps.append(stamp_ns or log_ns)
    track.logs.append(log_ns)
    track.frames.add(frame)


def _note_camera(cameras: Cameras, message: object, topic: str, image: str, stamp_ns: int) -> None:
    try:
        cameras.add(stamp_ns, camera_of_info(message, topic, rectified=is_rectified(image)))
    except ContractError as error:
        cameras.fault = str(error)
