"""Readers of recordings that were cut or damaged: what is whole in them is read, and what was lost is said.

They extend rosbags' own, which refuse a file without its index: MCAP's by walking its records up to the first that is
not whole, ROS 1's by walking its chunks.
"""

import heapq
import io
import struct
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from rosbags import rosbag1, rosbag2
from rosbags.rosbag1 import reader as bag
from rosbags.rosbag2 import storage_mcap as mcap
from rosbags.rosbag2.reader import DirectoryReader
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader

# What rosbags, lz4, bz2, zstd, sqlite3 and struct raise for damaged data.
DAMAGE: Final = (Exception,)
_CHUNK, _DATA_END, _FOOTER = 0x06, 0x0F, 0x02
_RECORD: Final = struct.Struct("<BQ")  # of MCAP: kind and length


class WholeMcap(mcap.McapReader):
    """An MCAP file, with or without its end; chunks that cannot be decoded are left out."""

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.faults: list[str] = []
        self._cut = False

    def _open(self) -> None:
        try:
            super()._open()
        except DAMAGE as error:
            if not self.data_start:  # no header: another kind of file
                raise
            self._take_whole_records()
            found = self.statistics
            if found is None or not found.message_count:
                raise
            self.connections = [
                one._replace(msgcount=found.channel_message_counts.get(one.id, 0)) for one in self.connections
            ]
            self.metadata = self.metadata._replace(
                duration=found.end_time - found.start_time + 1,
                start_time=found.start_time,
                end_time=found.end_time + 1,
                message_count=found.message_count,
            )
            self.faults.append(f"its end is missing ({error}); {found.message_count} messages are whole")

    def _take_whole_records(self) -> None:
        assert self.bio is not None
        for found in (self.schemas, self.channels, self.chunks, self.connections):
            found.clear()
        self.statistics, self._cut = None, True
        size = self.bio.seek(0, io.SEEK_END)
        at = self.data_start
        while at + _RECORD.size <= size:
            self.bio.seek(at)
            kind, length = _RECORD.unpack(self.bio.read(_RECORD.size))
            if kind in (_DATA_END, _FOOTER) or at + _RECORD.size + length > size or not self._is_whole(kind, length):
                break
            at += _RECORD.size + length
        self.data_end = at
        self.meta_scan()

    def _is_whole(self, kind: int, length: int) -> bool:
        """Whether the record that begins here is known and, of a chunk, can be decoded."""
        assert self.bio is not None
        if kind != _CHUNK:
            return 0 < kind <= _DATA_END or kind >= 0x80
        record = io.BytesIO(self.bio.read(length))
        try:
            _, _, size, crc = mcap.deserialize_qqqi(mcap.read_exact(record, 28))
            compression = mcap.read_string(record)
            (stored,) = mcap.deserialize_uint64(mcap.read_exact(record, 8))
            mcap.decompress(mcap.read_exact(record, stored), compression, size, crc)
        except DAMAGE:
            return False
        return True

    def messages(
        self, connections: Collection[Any], start: int | None = None, stop: int | None = None
    ) -> Generator[tuple[Any, int, bytes], None, None]:
        """As rosbags', without the chunks that cannot be decoded."""
        if self._cut or not self.chunks:
            yield from self.messages_scan(connections, start, stop)
            return
        wanted = {connection.id: connection for connection in connections}
        sources = [
            self._of_chunk(chunk, wanted, start, stop)
            for chunk in self.chunks
            if (start is None or start <= chunk.message_end_time)
            and (stop is None or chunk.message_start_time < stop)
            and any(chunk.channel_count.get(number, 0) for number in wanted)
        ]
        for message in heapq.merge(*sources, key=lambda message: message.timestamp):
            if message.connection is not None and message.data is not None:
                yield message.connection, message.timestamp, message.data

    def _of_chunk(self, chunk: Any, wanted: dict[int, Any], start: int | None, stop: int | None) -> Iterator[Any]:
        """The messages of a chunk; it is read when the first of them is due."""
        assert self.bio is not None
        first = chunk.message_start_time if start is None else start
        last = chunk.message_end_time + 1 if stop is None else stop
        try:
            yield from mcap.msgsrc(chunk, wanted, first, last, self.bio)
        except DAMAGE as error:
            fault = (
                f"{sum(chunk.channel_count.values())} messages at byte {chunk.chunk_start_offset} are lost ({error})"
            )
            if fault not in self.faults:
                self.faults.append(fault)


class WholeDirectory(DirectoryReader):
    """A ROS 2 recording with its metadata.yaml."""

    STORAGE_PLUGINS: Mapping[str, Any] = {"mcap": WholeMcap, "sqlite3": Sqlite3Reader}


class WholeRosbag2(rosbag2.Reader):
    """A ROS 2 recording: a folder, a bare .mcap, a bare .db3."""

    STORAGE_PLUGINS: Mapping[str, Any] = {"dir": WholeDirectory, ".mcap": WholeMcap, ".db3": Sqlite3Reader}

    @property
    def faults(self) -> list[str]:
        """What is lost, as far as known by now."""
        storages = getattr(self.storage, "storages", [self.storage])
        return [fault for storage in storages for fault in getattr(storage, "faults", ())]


class WholeRosbag1(rosbag1.Reader):
    """A ROS 1 recording, with or without its index."""

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.faults: list[str] = []

    def open(self) -> None:
        """See rosbags."""
        try:
            super().open()
        except DAMAGE as error:
            if not isinstance(self.path, Path) or not self._take_whole_chunks():
                raise
            self.faults.append(f"its index is missing ({error}); {self.message_count} messages are whole")

    def _take_whole_chunks(self) -> bool:
        """Rebuilds the index from the chunks that are whole; False where there is none, or it is no ROS 1 recording."""
        with Path(str(self.path)).open("rb") as file:
            if file.readline() != b"#ROSBAG V2.0\n":
                return False
        self.bio = Path(str(self.path)).open("rb")  # noqa: SIM115  (open as long as the reader is)
        self.bio.readline()
        self.connections, self.chunk_infos, self.chunks = [], [], {}
        indexes: dict[int, list[Any]] = {}
        known: dict[int, Any] = {}
        while True:
            at = self.bio.tell()
            try:
                header = bag.Header.read(self.bio)
                length = bag.read_uint32(self.bio)
                data = bag.read_bytes(self.bio, length)
                if header.get_uint8("op") == bag.RecordType.CHUNK:
                    self._take_chunk(at, data, header, known, indexes)
            except DAMAGE:
                break
            self.bio.seek(at)
            bag.Header.read(self.bio)
            self.bio.seek(bag.read_uint32(self.bio), io.SEEK_CUR)
        self.indexes = {number: sorted(indexes.get(number, [])) for number in known}
        self.connections = [one._replace(msgcount=len(self.indexes[number])) for number, one in known.items()]
        if not self.chunk_infos:
            self.close()
            return False
        return True

    def _take_chunk(
        self, at: int, data: bytes, header: Any, known: dict[int, Any], indexes: dict[int, list[Any]]
    ) -> None:
        """Adds the connections and messages of the chunk whose record begins at `at`."""
        assert self.bio is not None
        content = bag.decompressors[header.get_string("compression")](data)
        inner: BinaryIO = io.BytesIO(content)
        entries: list[tuple[int, Any]] = []
        while inner.tell() < len(content):
            offset = inner.tell()
            record = bag.Header.read(inner)
            kind = record.get_uint8("op")
            if kind == bag.RecordType.MSGDATA:
                entries.append((record.get_uint32("conn"), bag.IndexData(record.get_time("time"), at, offset)))
            elif kind == bag.RecordType.CONNECTION:
                inner.seek(offset)
                outer, self.bio = self.bio, inner
                connection = self.read_connection()
                self.bio = outer
                known.setdefault(connection.id, connection)
                continue
            inner.seek(bag.read_uint32(inner), io.SEEK_CUR)
        self.bio.seek(at)
        self.chunks[at] = self.read_chunk()
        for number, entry in entries:
            indexes.setdefault(number, []).append(entry)
        times = [entry.time for _, entry in entries]
        if times:
            counts = dict(Counter(number for number, _ in entries))
            self.chunk_infos.append(bag.ChunkInfo(at, min(times), max(times) + 1, counts))
