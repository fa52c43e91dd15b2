import json
from pathlib import Path
from typing import Any

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
