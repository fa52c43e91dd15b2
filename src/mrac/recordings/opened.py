"""A recording opened for reading: MCAP (bare or in a ROS 2 folder), ROS 2's .db3, ROS 1's .bag, through rosbags."""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from mrac.errors import ContractError, MissingExtra, first_line

SUFFIXES: Final = (".mcap", ".db3", ".bag")
_ROS1_HEADER: Final = struct.Struct("<xxxxIII")  # after the sequence number: seconds, nanoseconds, length of frame_id
_LITTLE, _BIG = struct.Struct("<iII"), struct.Struct(">iII")


class Header(NamedTuple):
    """Of a message: when it was measured, and in which frame."""

    stamp_ns: int
    frame: str


@dataclass(frozen=True, order=True)
class Topic:
    """What a recording has under one name."""

    name: str
    type: str
    count: int


class Message(NamedTuple):
    """A message as stored; `Recording.decoded` gives its fields."""

    topic: str
    log_ns: int
    raw: bytes


class Recording:
    """A recording; a context manager.

    Args:
        path: a .mcap, .db3 or .bag file, or a ROS 2 folder, with or without metadata.yaml.

    Raises:
        ContractError: there is no such recording, or nothing of it can be read.
        MissingExtra: rosbags is not installed.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        files = _files(self.path)
        try:
            from rosbags.highlevel import AnyReader  # noqa: PLC0415
            from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415

            from mrac.recordings.salvage import DAMAGE, WholeRosbag1, WholeRosbag2  # noqa: PLC0415
        except ImportError:
            raise MissingExtra(f"reading the recording {self.path}", "robotics") from None
        self._damage = DAMAGE
        try:
            store = getattr(Stores, f"ROS2_{_distribution(self.path).upper()}", Stores.ROS2_JAZZY)
            self._reader = AnyReader(files, default_typestore=get_typestore(store))
            readers: Any = [WholeRosbag2(file) if self._reader.is2 else WholeRosbag1(file) for file in files]
            self._reader.readers = readers
            self._reader.open()
        except DAMAGE as error:
            what = first_line(error) or type(error).__name__
            raise ContractError(
                f"{self.path}: not a readable recording ({what}); an .mcap of ROS 2, a ROS 2 folder, a .db3 or a ROS 1 "
                ".bag is needed"
            ) from None
        self.is_ros2 = bool(self._reader.is2)
        self._stopped: list[str] = []
        self.topics = {
            name: Topic(name, str(info.msgtype), int(info.msgcount)) for name, info in self._reader.topics.items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files."""
        if self._reader.stack is not None:
            self._reader.close()

    @property
    def faults(self) -> list[str]:
        """What of it could not be read, as far as it has been noticed; empty for a recording that is whole."""
        return [fault for reader in self._reader.readers for fault in getattr(reader, "faults", ())] + self._stopped

    @property
    def typestore(self) -> Any:
        """The message types that it defines, of rosbags."""
        return self._reader.typestore

    @property
    def files(self) -> list[Path]:
        """The files that it consists of."""
        return sorted(path for path in self.path.rglob("*") if path.is_file()) if self.path.is_dir() else [self.path]

    def connections(self, topics: Sequence[str]) -> list[Any]:
        """The connections of topics, of rosbags."""
        return [one for one in self._reader.connections if one.topic in topics]

    def messages(self, topics: Sequence[str], start_ns: int | None = None) -> Iterator[Message]:
        """The messages of topics by the time they were recorded at, one at a time; the last whole one ends it.

        Args:
            topics: their names.
            start_ns: leave out those recorded before.
        """
        wanted, number = self.connections(topics), 0
        if not wanted:
            return
        try:
            for connection, log_ns, raw in self._reader.messages(wanted, start=start_ns):
                number += 1
                yield Message(connection.topic, log_ns, raw)
        except GeneratorExit:
            raise
        except self._damage as error:
            fault = f"the rest after {number} messages is lost ({first_line(error) or type(error).__name__})"
            if fault not in self._stopped:
                self._stopped.append(fault)

    def decoded(self, message: Message) -> Any:
        """The fields of a message.

        Raises:
            ContractError: its bytes are damaged.
        """
        try:
            return self._reader.deserialize(message.raw, self.topics[message.topic].type)
        except self._damage as error:
            raise ContractError(f"{message.topic}: a message cannot be decoded ({first_line(error)})") from None

    def header(self, message: Message) -> Header:
        """Stamp and frame of a message that begins with a std_msgs Header; nothing else is decoded."""
        raw = message.raw
        try:
            if self.is_ros2:
                layout = _LITTLE if raw[1] & 1 else _BIG
                sec, nanosec, length = layout.unpack_from(raw, 4)
                text = raw[4 + layout.size : 4 + layout.size + length].rstrip(b"\0")
            else:
                sec, nanosec, length = _ROS1_HEADER.unpack_from(raw)
                text = raw[_ROS1_HEADER.size : _ROS1_HEADER.size + length]
            return Header(sec * 1_000_000_000 + nanosec, text.decode().lstrip("/"))
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ContractError(f"{message.topic}: a message has no readable header ({error})") from None

    def measured_ns(self, message: Message) -> int:
        """The stamp of a message's header; where it has none (0), the time it was recorded at."""
        return self.header(message).stamp_ns or message.log_ns


def is_recording(path: Path) -> bool:
    """Whether a path is that of a recording: by suffix, or a folder of ROS 2."""
    if path.is_dir():
        return (path / "metadata.yaml").is_file() or any(file.suffix in (".mcap", ".db3") for file in path.iterdir())
    return path.suffix.lower() in SUFFIXES


def _files(path: Path) -> list[Path]:
    """What rosbags is to open."""
    if not path.exists():
        raise ContractError(f"{path}: no such recording")
    if path.is_file() and path.suffix.lower() not in SUFFIXES:
        raise ContractError(f"{path}: a recording ends in {', '.join(SUFFIXES)}, or is a folder of ROS 2")
    if path.is_file() or (path / "metadata.yaml").is_file():
        return [path]
    # `ros2 bag record` writes metadata.yaml when it stops; a crash leaves the storage files alone.
    for suffix in (".mcap", ".db3"):
        if found := sorted(path.glob(f"*{suffix}")):
            return found
    raise ContractError(f"{path}: a folder without metadata.yaml, .mcap or .db3; a recording of ROS 2 is needed")


def _distribution(path: Path) -> str:
    """The ROS distribution that wrote a folder, if it says so: a .db3 does not define its message types."""
    meta = path / "metadata.yaml"
    found = re.search(r"ros_distro:\s*(\w+)", meta.read_text(errors="replace")) if meta.is_file() else None
    return found[1] if found else ""
