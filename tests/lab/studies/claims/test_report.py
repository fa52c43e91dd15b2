"""One command makes a folder of results: packed runs, report, devices and verdicts."""

from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.store import cell_of, write_about, write_cell
from mrac.lab.studies.claims import devices, report
from mrac.lab.studies.claims.page import BEGIN, END
from tests.lab.bench.report.made import Row, grid

GRID: dict[str, Any] = {
    "sets": ["nyu", "kitti15"],
    "methods": ["vanilla", "mrac"],
    "families": ["near", "dropout"],
    "fractions": [0.0, 0.1, 0.25],
}


def write_run(folder: Path, device: str, levels: dict[str, float], **more: Any) -> Path:
    by_cell: dict[Any, list[Row]] = {}
    for row in grid(levels, families=("near", "dropout"), fractions=(0.1, 0.25), anchors_hash="x", **more):
        by_cell.setdefault(cell_of(row), []).append(row)
    for cell, rows in by_cell.items():
        write_cell(folder, cell, rows)
    protocol = Protocol.of({"name": "made", "grid": [GRID]}).to_json()
    write_about(folder, {"protocol": protocol, "device": device, "chosen": {}, "sets": {"nyu": {}, "kitti15": {}}})
    return folder


def test_a_folder_of_results_is_made_and_made_again_with_another_run(tmp_path: Path) -> None:
    paper = write_run(tmp_path / "a" / "paper", "cpu", {"vanilla": 0.2})
    into, page = tmp_path / "results" / "benchmark--toy--2026-01-01", tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    report.main([str(paper), "--into", str(into), "--page", str(page)])
    assert "vanilla" in (into / "report" / "report.md").read_text()
    assert {path.suffix for path in (into / "report" / "figures").iterdir()} == {".png"}
    assert (into / "devices.md").read_text() == ""
    assert "## In short" in page.read_text()
    other = write_run(tmp_path / "b" / "later", "cuda", {"vanilla": 0.2001, "mrac": 0.1})
    report.main([str(other), "--into", str(into), "--page", str(page)])
    text = (into / "report" / "report.md").read_text()
    assert "MRAC/van" in text
    assert sorted(path.name for path in (into / "runs").iterdir()) == ["later", "paper"]
    assert "| `vanilla` | 40 | 1e-04 | 1e-04 | 1e-04 | 0 |" in (into / "devices.md").read_text()


def test_two_runs_of_one_name_are_refused_and_so_is_nothing(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name / "paper", "cpu", {"vanilla": 0.2}) for name in "ab"]
    with pytest.raises(ContractError, match="runs of one name"):
        report.main([*map(str, runs), "--into", str(tmp_path / "into")])
    with pytest.raises(ContractError, match="has no run"):
        report.main(["--into", str(tmp_path / "into")])


def test_other_anchors_on_another_device_are_an_error() -> None:
    key = ("nyu", "vanilla", "none", 0.0, 50, "random", "truth", 0, "a")
    with pytest.raises(ContractError, match="different anchors"):
        devices.compared({key: (0.1, "x", 0)}, {key: (0.1, "y", 0)})
    assert "| `vanilla` | 1 | 0 | 0 | 0 | 1 |" in devices.compared({key: (0.1, "x", 0)}, {key: (0.1, "x", 2)})
