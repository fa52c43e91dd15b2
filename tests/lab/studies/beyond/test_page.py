"""The page on what was asked of our own method: what is missing is said."""

from pathlib import Path

from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.store import write_about, write_cell
from mrac.lab.studies.beyond import page
from mrac.lab.studies.beyond.grid import (
    ORACLE,
    SIX,
)
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.beyond.section import NOT_THERE
from tests.lab.studies.beyond.made import NARROW, Row, grid, row, sweep


def test_a_page_says_what_is_missing_and_takes_the_first_of_two_runs(tmp_path: Path) -> None:
    condition = Condition(set_name="nyu")
    for name, error in (("new", 0.04), ("old", 0.4)):
        write_cell(tmp_path / name, Cell(condition, OURS), [row("nyu", OURS, error) | condition.columns])
        write_about(tmp_path / name, {"commit": f"c-{name}", "methods": [OURS]})
    page.main([str(tmp_path / "new"), str(tmp_path / "old"), "--out", str(tmp_path / "page")])
    text = (tmp_path / "page" / "beyond.md").read_text()
    assert text.count(f"| **{NOT_THERE}** |") == 15
    assert all(f"\n## {letter}. " in text for letter in "abcdefg")
    assert "1 rows were left out" in text
    assert "**Rows of `default` come from different commits**: c-new, c-old." in text
    table = (tmp_path / "page" / "nyu.csv").read_text()
    assert "nyu,measured,default,clean,0.04," in table
    assert not list((tmp_path / "page").glob("*.png"))


def test_a_whole_page_is_written_with_its_figure(tmp_path: Path) -> None:
    rows = [*grid(OURS, 0.04), *sweep(OURS, lambda K: 1.0 / K, (2, 5))]
    for method in (*SIX, ORACLE, NARROW):
        rows += grid(method, 0.1)
    by_cell: dict[Cell, list[Row]] = {}
    for one in rows:
        names = ("source", "placement", "num_anchors", "seed", "family", "fraction")
        condition = Condition(set_name=one["set"], **{name: one[name] for name in names})
        by_cell.setdefault(Cell(condition, one["method"]), []).append(one)
    for cell, own in by_cell.items():
        write_cell(tmp_path / "run", cell, own)
    page.main([str(tmp_path / "run"), "--out", str(tmp_path / "page")])
    found = {path.name for path in (tmp_path / "page").iterdir()}
    assert {"beyond.md", "curve.png", "wins.csv", "regret.csv", "left-out.csv", "ablation.csv"} <= found
    text = (tmp_path / "page" / "beyond.md").read_text()
    assert "different commits" not in text
    assert "| b: lower AbsRel than each of six in at least 64 of 64 | **holds** |" in text
