"""A packed run is a run: the same rows to a few digits, the same cells, and it can be gone on with."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.lab.bench.pack import pack_run, round_mantissa
from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.store import COLUMNS, finished, packed_path, read_about, read_run, write_about, write_cell

NEAR = Condition(set_name="room", family="near", fraction=0.1)
# Relative and absolute tolerance.
ROUNDED = {"abs_rel": (2.0**-15, 0), "rmse": (2.0**-11, 0), "delta1": (0, 2.0**-11), "time_ms": (2.0**-15, 0)}
CELLS = [Cell(NEAR, "mrac"), Cell(NEAR, "vanilla"), Cell(Condition(set_name="room", num_anchors=5, seed=2), "mrac")]


def rows(cell: Cell, num_images: int = 3) -> list[dict[str, Any]]:
    made = []
    for i in range(num_images):
        row = {**cell.condition.columns, "method": cell.method, "image": f"{i}", "scene": "a", "status": "ok"}
        row |= {
            "abs_rel": (0.1 + i) / 3.0,
            "num_wrong": i,
            "gate_recall": None if i else 0.5,
            "anchors_hash": f"{i:064x}",
        }
        row |= {"rmse": 0.7 + i, "delta1": i / 3, "time_ms": 12.34}
        made.append(row if i else row | {"failure": "ValueError: nothing", "abs_rel": None})
    return made


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for cell in CELLS:
        write_cell(tmp_path / "run", cell, rows(cell))
    write_about(tmp_path / "run", {"commit": "abc"})
    return tmp_path / "run"


def by_row(run: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {(r["method"], r["num_anchors"], r["image"]): r for r in read_run(run).to_pylist()}


def test_it_is_read_like_the_run_that_it_was(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "packed"
    assert pack_run(run, out) == 9
    assert sorted(path.name for path in out.iterdir()) == ["rows.parquet", "run.json"]
    assert read_about(out) == read_about(run)
    assert finished(out) == finished(run) == set(CELLS)
    assert read_run(out).schema == read_run(run).schema
    before, after = by_row(run), by_row(out)
    assert before.keys() == after.keys()
    for key, row in after.items():
        for name, (relative, absolute) in ROUNDED.items():
            expected = before[key].pop(name)
            assert row.pop(name) == (None if expected is None else pytest.approx(expected, relative, absolute))
        assert before[key].pop("anchors_hash").startswith(row.pop("anchors_hash"))
        assert row == before[key]
        assert row["fraction"] in (0.0, 0.1)  # it names the cell: to the bit


def test_times_of_workers_that_share_a_gpu_are_left_out(run: Path, tmp_path: Path) -> None:
    write_about(run, {"commit": "abc", "device": "cuda"})
    pack_run(run, tmp_path / "packed")
    assert read_run(tmp_path / "packed")["time_ms"].null_count == 9


def test_numbers_are_rounded_to_the_nearest() -> None:
    given = np.array([1.0, 1.2, 1.3, 1.4, 1.99, 0.0, 1e-30, np.nan], np.float32)
    np.testing.assert_allclose(round_mantissa(given, 2)[:6], [1.0, 1.25, 1.25, 1.5, 2.0, 0.0], rtol=0)
    drawn = np.random.default_rng(0).lognormal(size=1000).astype(np.float32)
    assert np.abs(round_mantissa(drawn, 10) / drawn - 1).max() < 2.0**-11
    assert abs(np.mean(round_mantissa(drawn, 10) / drawn - 1)) < 2.0**-14, "no bias"


def test_cells_that_come_later_lie_beside_it_and_are_packed_with_it(run: Path, tmp_path: Path) -> None:
    pack_run(run, tmp_path / "packed")
    later = Cell(NEAR, "cfa_ols")
    write_cell(tmp_path / "packed", later, rows(later))
    assert finished(tmp_path / "packed") == {*CELLS, later}
    assert read_run(tmp_path / "packed").num_rows == 12
    assert pack_run(tmp_path / "packed", tmp_path / "again") == 12
    assert pack_run(tmp_path / "again", tmp_path / "thrice") == 12
    assert packed_path(tmp_path / "thrice").read_bytes() == packed_path(tmp_path / "again").read_bytes()


def test_a_run_is_not_packed_upon_itself_or_another(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="is a run; another --out is needed"):
        pack_run(run, run)
    with pytest.raises(ContractError, match=r"has no run\.json"):
        pack_run(tmp_path / "nothing", tmp_path / "out")
    pack_run(run, tmp_path / "packed")
    with pytest.raises(ContractError, match="is a run"):
        pack_run(tmp_path / "packed", tmp_path / "packed")


def test_it_has_every_column(run: Path, tmp_path: Path) -> None:
    pack_run(run, tmp_path / "packed")
    assert read_run(tmp_path / "packed").column_names == list(COLUMNS)
