"""Which topics of a recording are images, depth, clouds, scans, ranges and cameras; and which are taken if unnamed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mrac.errors import ContractError
from mrac.recordings.opened import Recording

IMAGE_TYPES: Final = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
INFO_TYPE: Final = "sensor_msgs/msg/CameraInfo"
TF_TYPES: Final = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
_BY_TYPE: Final = {
    "sensor_msgs/msg/PointCloud2": "cloud",
    "sensor_msgs/msg/LaserScan": "scan",
    "sensor_msgs/msg/Range": "range",
}
_DEPTH_ENCODINGS: Final = ("32FC1", "64FC1", "16UC1")
READING_KINDS: Final = ("depth", "cloud", "scan", "range")


@dataclass(frozen=True)
class Candidate:
    """A topic with what it can be used as.

    Attributes:
        name: of the topic.
        type: of its messages.
        count: of them.
        detail: of the first of them: encoding and size of an image.
        use: `image`, `depth`, `cloud`, `scan`, `range`, `info`, `tf`, or "".
    """

    name: str
    type: str
    count: int
    detail: str = ""
    use: str = ""


@dataclass(frozen=True)
class Chosen:
    """The topics of a run.

    Attributes:
        image: of the camera.
        readings: of the sensors, each with its kind.
        info: of the camera's CameraInfo; "" where there is none.
        depth_infos: by topic of a depth image, its own CameraInfo, where there is one.
        notes: what was taken without having been named.
    """

    image: str
    readings: tuple[tuple[str, str], ...]
    info: str = ""
    depth_infos: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def candidates(recording: Recording) -> list[Candidate]:
    """All topics of a recording, by name; of images, the first message tells colour from depth."""
    found = []
    for topic in sorted(recording.topics.values()):
        detail, use = "", _BY_TYPE.get(topic.type, "")
        if topic.type in IMAGE_TYPES:
            detail, use = _picture(recording, topic.name)
        elif topic.type == INFO_TYPE:
            use = "info"
        elif topic.type in TF_TYPES:
            use = "tf"
        found.append(Candidate(topic.name, topic.type, topic.count, detail, use))
    return found


def choose(
    found: Sequence[Candidate], image: str | None, readings: Sequence[tuple[str, str]], info: str | None
) -> Chosen:
    """The topics of a run: those named, and for what is not named the only candidate.

    Args:
        found: of `candidates`.
        image: named by the caller, or None.
        readings: (kind, topic) likewise; empty: none is named.
        info: likewise.

    Raises:
        ContractError: a named topic is not there or of another type, or there is not exactly one candidate.
    """
    by_name, notes = {one.name: one for one in found}, []
    for kind, name in (("image", image), *readings, ("info", info)):
        if name is not None:
            _check(by_name, kind, name)
    if image is None:
        taken = {topic for _, topic in readings}
        image = _only(found, ("image",), "--image-topic", taken).name
        notes.append(f"--image-topic {image}: the only one")
    if not readings:
        one = _only(found, READING_KINDS, "--depth-topic, --cloud-topic, --scan-topic or --range-topic", {image})
        readings = [(one.use, one.name)]
        notes.append(f"--{one.use}-topic {one.name}: the only one")
    if info is None:
        info = _info_of(image, by_name)
    depth_infos = {topic: _info_of(topic, by_name) for kind, topic in readings if kind == "depth"}
    return Chosen(image, tuple(readings), info, {k: v for k, v in depth_infos.items() if v}, tuple(notes))


def is_rectified(topic: str) -> bool:
    """Whether an image's topic is, by the names of image_proc, one without distortion."""
    return re.search(r"(^|_)rect(ified)?(_|$)", _base(topic).rpartition("/")[2]) is not None


def _picture(recording: Recording, topic: str) -> tuple[str, str]:
    """Encoding and size of a topic's first message, and whether it is an image or depth."""
    first = next(recording.messages([topic]), None)
    if first is None:
        return "", ""
    try:
        message = recording.decoded(first)
    except ContractError:
        return "not readable", ""
    if not hasattr(message, "encoding"):
        stated = str(message.format)
        is_depth = "compressedDepth" in stated or stated.partition(";")[0].strip() in _DEPTH_ENCODINGS
        return stated, "depth" if is_depth else "image"
    use = "depth" if message.encoding in _DEPTH_ENCODINGS else "image"
    return f"{message.encoding} {message.width}×{message.height}", use


def _check(by_name: Mapping[str, Candidate], kind: str, name: str) -> None:
    if name not in by_name:
        raise ContractError(f"--{kind}-topic {name}: no such topic; there are {', '.join(by_name) or 'none'}")
    needed = {"image": IMAGE_TYPES, "depth": IMAGE_TYPES, "info": (INFO_TYPE,)}.get(
        kind, tuple(type_ for type_, use in _BY_TYPE.items() if use == kind)
    )
    if by_name[name].type not in needed:
        raise ContractError(f"--{kind}-topic {name}: it is of {by_name[name].type}; {' or '.join(needed)} is needed")


def _only(found: Sequence[Candidate], uses: Sequence[str], option: str, without: set[str]) -> Candidate:
    """The one topic of some use; an image and its compressed twin count as one."""
    fitting = [one for one in found if one.use in uses and one.count and one.name not in without]
    raw = {one.name for one in fitting}
    single = [one for one in fitting if _base(one.name) == one.name or _base(one.name) not in raw]
    if len(single) == 1:
        return single[0]
    names = ", ".join(f"{one.name} ({one.use})" for one in single)
    if not single:
        everything = ", ".join(f"{one.name} ({one.type})" for one in found) or "none at all"
        raise ContractError(f"{option}: no topic that fits; the recording has {everything}")
    raise ContractError(f"{option} is needed: {len(single)} topics fit, {names}")


def _base(topic: str) -> str:
    """The raw topic of a compressed one."""
    for ending in ("/compressedDepth", "/compressed"):
        topic = topic.removesuffix(ending)
    return topic


def _info_of(topic: str, by_name: Mapping[str, Candidate]) -> str:
    """The CameraInfo beside an image, by ROS's rule: `camera_info` in the same namespace."""
    name = f"{_base(topic).rpartition('/')[0]}/camera_info"
    one = by_name.get(name)
    if one is not None and one.use == "info" and one.count:
        return name
    return ""
