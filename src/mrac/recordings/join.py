"""Finished frames, and topics of the input, as one MCAP file of ROS 2 messages."""

import heapq
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError
from mrac.recordings.journal import Journal
from mrac.recordings.message_classes import jazzy
from mrac.recordings.opened import Message, Recording

_RENAMED: Final = {"tf/msg/tfMessage": "tf2_msgs/msg/TFMessage"}  # the same fields, under ROS 2's name


def write_recording(
    journal: Journal, channels: dict[str, str], out: Path, copied: "Copy | None" = None, compression: str = "zstd"
) -> None:
    """Writes the frames of a journal by the time they were recorded at; one in memory at a time.

    The file is written beside the journal and gets its name when it is whole.

    Args:
        journal: of a run that came to its end.
        channels: topics of the results, each with its type.
        out: the .mcap file.
        copied: topics of the input.
        compression: `zstd` or `none`.
    """
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer  # noqa: PLC0415

    used = sorted({topic for entry in journal.entries() for topic, _ in entry.messages})
    folder = journal.path.parent / out.stem  # the file inside is named after it
    shutil.rmtree(folder, ignore_errors=True)  # left by a run that was killed
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if compression == "zstd":
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        store = jazzy()
        connections = {topic: writer.add_connection(topic, channels[topic], typestore=store) for topic in used}
        if copied is not None:
            connections |= copied.add_connections(writer)
        sources: list[Iterator[Message]] = [_of_journal(journal)]
        if copied is not None:
            sources.append(copied.messages())
        for message in heapq.merge(*sources, key=lambda message: message.log_ns):
            writer.write(connections[message.topic], message.log_ns, message.raw)
    joined = folder / f"{out.stem}.mcap"
    with joined.open("rb") as file:
        os.fsync(file.fileno())  # without it a power cut may leave the name on an empty file, and the journal is gone
    joined.replace(out)
    shutil.rmtree(folder)


def _of_journal(journal: Journal) -> Iterator[Message]:
    for entry in journal.entries():
        for topic, raw in entry.messages:
            yield Message(topic, int(entry.about["log_ns"]), raw)


class Copy:
    """Topics of the input as ROS 2 messages: as they are, or converted from ROS 1.

    Args:
        recording: the input, opened.
        topics: to be copied.
        taken: topics of the results.

    Raises:
        ContractError: a topic is not there, or is one of the results' too.
    """

    def __init__(self, recording: Recording, topics: Sequence[str], taken: Sequence[str]) -> None:
        for topic in topics:
            if topic not in recording.topics:
                raise ContractError(f"--copy {topic}: no such topic; there are {', '.join(recording.topics)}")
            if topic in taken:
                raise ContractError(f"--copy {topic}: the results have that topic too; give another --prefix")
        self.recording, self.topics = recording, list(topics)
        self._convert: dict[str, Callable[[bytes], Any]] = {}

    def add_connections(self, writer: Any) -> dict[str, Any]:
        """Adds the topics to a writer of rosbags; several connections of one topic become one."""
        found: dict[str, Any] = {}
        for connection in self.recording.connections(self.topics):
            if connection.topic in found:
                continue
            if not self.recording.is_ros2:
                found[connection.topic] = self._add_converted(writer, connection)
                continue
            # A storage without definitions has its types from the distribution that wrote it.
            own = {"typestore": self.recording.typestore}
            profiles = connection.ext.offered_qos_profiles
            found[connection.topic] = writer.add_connection(
                connection.topic, connection.msgtype, offered_qos_profiles=profiles, **own
            )
        return found

    def _add_converted(self, writer: Any, connection: Any) -> Any:
        from rosbags.convert.converter import generate_message_converter  # noqa: PLC0415

        source, target = self.recording.typestore, jazzy()
        target.register({name: each for name, each in source.fielddefs.items() if name not in target.fielddefs})
        kind = _RENAMED.get(connection.msgtype, connection.msgtype)
        self._convert[connection.topic] = generate_message_converter(
            source, target, connection.msgtype, kind, {}, src_is2=False, dst_is2=True
        )
        return writer.add_connection(connection.topic, kind, typestore=target)

    def messages(self) -> Iterator[Message]:
        """Their messages, by the time they were recorded at."""
        for message in self.recording.messages(self.topics):
            convert = self._convert.get(message.topic)
            yield message if convert is None else message._replace(raw=bytes(convert(message.raw)))
