"""Recordings that were cut or damaged: what is whole is read, and the loss is one line."""

import random
from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.recordings.opened import Message, Recording, is_recording
from tests.mrac.recordings.bags import Sent, at, depth_bag, write_bag

NUM = 120  # of an MCAP, several chunks


@pytest.fixture(scope="module")
def sent() -> list[Sent]:
    return depth_bag(NUM)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, sent: list[Sent]) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("whole")
    write_bag(folder / "one.bag", sent)
    return {
        "mcap": write_bag(folder / "one.mcap", sent),
        "zstd": write_bag(folder / "packed.mcap", sent, compress=True),
        "bag": folder / "one.bag",
        "folder": write_bag(folder / "two", sent),
        "db3": write_bag(folder / "three.db3", sent),
    }


def content(path: Path) -> tuple[list[Message], list[str]]:
    with Recording(path) as recording:
        found = list(recording.messages(list(recording.topics)))
        if not any("lost" in fault for fault in recording.faults):
            assert sum(topic.count for topic in recording.topics.values()) == len(found)
        return found, recording.faults


@pytest.mark.parametrize("kind", ["mcap", "zstd", "bag", "folder", "db3"])
def test_a_whole_recording_is_read_whole(kind: str, whole: dict[str, Path], sent: list[Sent]) -> None:
    messages, faults = content(whole[kind])
    assert (len(messages), faults) == (3 * NUM, [])
    assert sorted(message.log_ns for message in messages) == sorted(one.log_ns for one in sent)
    with Recording(whole[kind]) as recording:
        header = recording.header(messages[0])
        assert (header.stamp_ns, header.frame) == (at(0), "cam")
        assert recording.topics["/cam/color/image_raw"].count == NUM
        assert recording.is_ros2 == (kind != "bag")
    assert is_recording(whole[kind])


@pytest.mark.parametrize("kind", ["mcap", "zstd", "bag"])
def test_a_cut_recording_gives_the_messages_before_the_cut(kind: str, whole: dict[str, Path], tmp_path: Path) -> None:
    stored, (all_messages, _) = whole[kind].read_bytes(), content(whole[kind])
    rng, before, damaged = random.Random(0), 0, 0
    for size in sorted(rng.sample(range(len(stored) // 20, len(stored)), 8)):
        cut = tmp_path / f"cut{whole[kind].suffix}"
        cut.write_bytes(stored[:size])
        try:
            messages, faults = content(cut)
        except ContractError as error:
            assert "not a readable recording" in str(error)  # noqa: PT017
            messages, faults = [], ["none"]
            assert before == 0
        assert len(faults) == 1
        assert "\n" not in faults[0]
        key = [(m.topic, m.log_ns, bytes(m.raw)) for m in messages]
        assert len(set(key)) == len(key)
        assert set(key) <= {(m.topic, m.log_ns, bytes(m.raw)) for m in all_messages}
        assert len(key) >= before
        before, damaged = len(key), damaged + 1
    assert damaged == 8
    assert before > 0.5 * len(all_messages)


def test_a_damaged_chunk_costs_its_messages_alone(whole: dict[str, Path], tmp_path: Path) -> None:
    stored = bytearray(whole["zstd"].read_bytes())
    second = stored.index(b"\x28\xb5\x2f\xfd", stored.index(b"\x28\xb5\x2f\xfd") + 1)  # zstd's magic number
    stored[second + 40 : second + 60] = bytes(20)
    damaged = tmp_path / "damaged.mcap"
    damaged.write_bytes(stored)
    messages, faults = content(damaged)
    assert 0 < len(messages) < 3 * NUM
    assert messages[-1].log_ns == content(whole["zstd"])[0][-1].log_ns, "what follows the damage is read"
    assert len(faults) == 1
    assert "are lost" in faults[0]


def test_a_folder_that_a_crash_left_without_metadata(whole: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "crashed"
    folder.mkdir()
    stored = whole["mcap"].read_bytes()
    (folder / "crashed_0.mcap").write_bytes(stored[: len(stored) * 2 // 3])
    messages, faults = content(folder)
    assert 100 < len(messages) < 3 * NUM
    assert "its end is missing" in faults[0]


@pytest.mark.parametrize(
    ("name", "stored", "said"),
    [
        ("a.mcap", b"", "not a readable recording"),
        ("a.mcap", b"something else", "not a readable recording"),
        ("a.bag", b"#ROSBAG V2.0\n", "not a readable recording"),
        ("a.bag", b"#ROSBAG V1.2\n", "not a readable recording"),
        ("a.db3", b"SQLite format 3\0 and nothing", "not a readable recording"),
        ("a.txt", b"text", r"ends in \.mcap"),
    ],
)
def test_what_is_no_recording(name: str, stored: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(stored)
    with pytest.raises(ContractError, match=said):
        Recording(tmp_path / name)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such recording"):
        Recording(tmp_path / "a.mcap")
    with pytest.raises(ContractError, match=r"without metadata\.yaml"):
        Recording(tmp_path)
