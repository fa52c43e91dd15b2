"""Results are counted once, however many runs have them."""

from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.store import write_about, write_cell
from mrac.lab.studies.count import Count, count, main


def write(run: Path, method: str, images: tuple[str, ...]) -> None:
    cell = Cell(Condition(set_name="room"), method)
    write_cell(run, cell, [{**cell.condition.columns, "method": method, "image": image} for image in images])
    write_about(run, {})


def test_what_two_runs_have_in_common_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ContractError, match="no run in"):
        count(tmp_path)
    write(tmp_path / "a", "mrac", ("0", "1"))
    write(tmp_path / "deeper" / "b", "mrac", ("0", "1", "2"))
    write(tmp_path / "deeper" / "b", "vanilla", ("0",))
    assert count(tmp_path) == Count(results=4, cells=2, rows=6, runs=2)
    main([str(tmp_path)])
    assert capsys.readouterr().out == "4 results in 2 cells; 6 rows in 2 runs\n"
