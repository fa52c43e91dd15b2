import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac.batch_jobs.attempts import attempt
from mrac.batch_jobs.job import Record, frame_key
from mrac.batch_jobs.manifest import append, finish, held, read_manifest
from mrac.errors import ContractError

NAMES = st.text(st.characters(exclude_categories=()), min_size=1)  # of files: any bytes, so also lone surrogates
RECORDS = st.builds(Record, id=NAMES, key=st.text(), file=st.text(), num_bytes=st.integers(0, 2**40), error=st.text())


@given(RECORDS, st.data())
def test_a_record_is_one_line_and_a_part_of_a_line_is_none(record: Record, data: st.DataObject) -> None:
    line = record.to_line()
    assert line.count(b"\n") == 1
    assert Record.of_line(line) == record
    assert Record.of_line(line[: data.draw(st.integers(0, len(line) - 2))]) is None


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 40))
def test_a_key_knows_where_the_image_ends(image: bytes, readings: bytes, place: int) -> None:
    both = image + readings
    moved = (both[:place], both[place:])
    assert (frame_key("d", *moved) == frame_key("d", image, readings)) == (moved == (image, readings))
    assert frame_key("d", image, readings) != frame_key("e", image, readings)


def test_records_of_a_killed_run_are_found_and_of_one_that_ended_are_one_each(tmp_path: Path) -> None:
    first, second = Record("b", "k1", "b.npz", 3, "s1", "ok"), Record("a", "k2", "a.npz", 4, "s2", "ok")
    with held(tmp_path):
        append(tmp_path, first)
        append(tmp_path, dataclasses.replace(first, key="k3"))
        append(tmp_path, second)
    (segment,) = (tmp_path / ".batch").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes() + b'{"id": "c", "ke')  # killed while writing
    found = read_manifest(tmp_path)
    assert {name: [record.key for record in records] for name, records in found.items()} == {
        "a": ["k2"],
        "b": ["k1", "k3"],
    }
    with held(tmp_path):
        finish(tmp_path, [first, second])
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.jsonl"]
    assert read_manifest(tmp_path) == {"a": (second,), "b": (first,)}


def test_a_second_job_is_kept_out(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(ContractError, match="another job is writing"), held(tmp_path):
        pass
    with held(tmp_path):  # free again
        pass


def test_tries_that_come_to_an_end_do_not_count_and_those_that_do_not_are_few(tmp_path: Path) -> None:
    with held(tmp_path):
        for _ in range(5):
            with attempt(tmp_path, "load", "a", 2) as may:
                assert may
        lost = [attempt(tmp_path, "load", "a", 2) for _ in range(2)]  # as of killed workers: never left
        assert all(one.__enter__() for one in lost)
        with attempt(tmp_path, "load", "a", 2) as may:
            assert not may
        with attempt(tmp_path, "calibrate", "a", 2) as other, attempt(tmp_path, "load", "b", 2) as another:
            assert other
            assert another
