import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.store import (
    COLUMNS,
    Journal,
    cell_of,
    cell_path,
    finished,
    locked,
    read_about,
    read_run,
    write_about,
    write_cell,
)

CELL = Cell(Condition(set_name="room", family="near", fraction=0.25), "mrac")


def row(cell: Cell, image: str, **more: Any) -> dict[str, Any]:
    return {**cell.condition.columns, "method": cell.method, "image": image, "scene": "a", "status": "ok", **more}


def test_a_cell_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    value = 0.1 + 0.2  # not a short decimal: it comes back to the last bit
    write_cell(tmp_path, CELL, [row(CELL, "1", abs_rel=value, num_wrong=3), row(CELL, "2", failure="x: y")])
    table = read_run(tmp_path)
    assert table.column_names == list(COLUMNS)
    first, second = table.to_pylist()
    assert (first["abs_rel"], first["num_wrong"], first["failure"]) == (value, 3, None)
    assert (second["abs_rel"], second["failure"], second["fraction"]) == (None, "x: y", 0.25)
    assert finished(tmp_path) == {CELL}


def test_cells_that_look_alike_have_files_of_their_own(tmp_path: Path) -> None:
    cells = {
        Cell(Condition(set_name=set_name, family=family, fraction=0.5, num_anchors=k), method)
        for set_name in ("a/b", "a_b", "..")
        for family in ("gaussian:sigma_m=0.1", "gaussian_sigma_m=0.1")
        for k in (5, 50)
        for method in ("mrac;gate=none", "mrac_gate=none", "m" * 300, "m" * 299)
    }
    for cell in cells:
        write_cell(tmp_path, cell, [row(cell, "1")])
    assert finished(tmp_path) == cells
    assert {cell_of(one) for one in read_run(tmp_path).to_pylist()} == cells
    assert all(cell_path(tmp_path, cell).resolve().is_relative_to(tmp_path / "cells") for cell in cells)


def test_a_part_of_a_file_is_no_cell(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="has no finished cell"):
        read_run(tmp_path)
    path = cell_path(tmp_path, CELL)
    path.parent.mkdir(parents=True)
    path.with_name(f".{path.name}.12ab").write_bytes(b"PAR1")  # what a kill leaves
    assert finished(tmp_path) == set()


def test_the_journal_gives_back_what_it_took_to_the_bit(tmp_path: Path) -> None:
    journal = Journal(tmp_path, set())
    assert journal.rows == []
    rows = [row(CELL, "1", abs_rel=0.1 + 0.2), row(CELL, "2", failure="no “depth”")]
    journal.append(rows[:1])
    journal.append(rows[1:])
    assert Journal(tmp_path, set()).rows == [(CELL, one) for one in rows]
    journal.remove()
    assert Journal(tmp_path, set()).rows == []


def test_the_half_line_of_a_kill_is_dropped_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    Journal(tmp_path, set()).append([row(CELL, "1"), row(CELL, "2")])
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    for end in (0, 1, len(whole) // 3, whole.index(b"\n"), whole.index(b"\n") + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        journal = Journal(tmp_path, set())
        journal.append([row(CELL, "3")])
        images = [one["image"] for _, one in Journal(tmp_path, set()).rows]
        assert images == [*(["1"] if end > whole.index(b"\n") else []), "3"]


def test_rows_of_finished_cells_leave_the_journal(tmp_path: Path) -> None:
    other = Cell(CELL.condition, "vanilla")
    Journal(tmp_path, set()).append([row(CELL, "1"), row(other, "1")])
    assert [cell for cell, _ in Journal(tmp_path, {CELL}).rows] == [other]
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1


def test_one_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(ContractError, match="another process is at work"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_about(tmp_path: Path) -> None:
    assert read_about(tmp_path) is None
    write_about(tmp_path, {"a": 1})
    assert read_about(tmp_path) == {"a": 1}
    (tmp_path / "run.json").write_text(json.dumps({"a": 1})[:-1])
    with pytest.raises(ContractError, match="not readable"):
        read_about(tmp_path)


def flips(content: bytes, num: int, seed: int = 0) -> list[bytes]:
    rng = np.random.default_rng(seed)
    damaged = []
    for place in rng.integers(0, 8 * len(content), num):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << (place % 8)
        damaged.append(bytes(changed))
    return damaged


def test_a_flipped_bit_in_a_cell_is_noticed_and_named(tmp_path: Path) -> None:
    """Before, 18 of 300 flips were read as good, and others ended the whole run."""
    other = Cell(CELL.condition, "default")
    write_cell(tmp_path, other, [row(other, "1")])
    write_cell(tmp_path, CELL, [row(CELL, f"{i}", abs_rel=0.1 * i, rmse=i / 3) for i in range(9)])
    path, before = cell_path(tmp_path, CELL), read_run(tmp_path).to_pylist()
    good = path.read_bytes()
    for damaged in flips(good, 300):
        path.write_bytes(damaged)
        said: list[str] = []
        if CELL in finished(tmp_path, said.append):  # a bit that says nothing: the names of the library, padding
            assert not said
            assert read_run(tmp_path).to_pylist() == before
        else:
            assert len(said) == 1
            assert str(path) in said[0]
            assert finished(tmp_path, said.append) >= {other}
            with pytest.raises(ContractError, match="damaged"):
                read_run(tmp_path)


def test_cells_from_before_the_checksum_are_read(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, [row(CELL, "1")])
    path = cell_path(tmp_path, CELL)
    stored = pq.read_table(path)
    metadata = {key: value for key, value in stored.schema.metadata.items() if key != b"mrac.sha256"}
    pq.write_table(stored.replace_schema_metadata(metadata), path)
    assert finished(tmp_path) == {CELL}
    assert read_run(tmp_path).num_rows == 1


def test_a_damaged_line_of_the_journal_is_passed_over(tmp_path: Path) -> None:
    Journal(tmp_path, set()).append([row(CELL, f"{i}", abs_rel=i / 7) for i in range(4)])
    path = tmp_path / "journal.jsonl"
    good, rows = path.read_bytes(), [one for _, one in Journal(tmp_path, set()).rows]
    assert len(rows) == 4
    for damaged in flips(good, 300):
        path.write_bytes(damaged)
        found = [one for _, one in Journal(tmp_path, set()).rows]
        assert 2 <= len(found) < 4
        assert all(one in rows for one in found)
    path.write_bytes(b'\xff\n{"set": 5}\n[1]\n' + b"[" * 10_000 + b"\n" + json.dumps(rows[0]).encode() + b"\n")
    assert [one for _, one in Journal(tmp_path, set()).rows] == rows[:1]  # of before the checksum


@pytest.mark.parametrize("content", [b"\xff\xfe\xfa", b"[" * 100_000, b"[1]", b"{"])
def test_a_broken_run_json_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ContractError, match=r"run\.json"):
        read_about(tmp_path)


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, [row(CELL, "1")])
    folder = cell_path(tmp_path, CELL).parent
    for left in (tmp_path / ".run.json.0123abcd", folder / ".a.parquet.89abcdef"):
        left.write_bytes(b"half")
    with locked(tmp_path):
        assert not list(tmp_path.glob(".run*"))
        assert [path.name for path in folder.iterdir()] == [cell_path(tmp_path, CELL).name]
