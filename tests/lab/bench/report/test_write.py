import csv
import re
from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.verdict import Verdict
from mrac.lab.bench.report.write import ReportOptions, Written, read_context, write_report
from mrac.lab.bench.store import cell_of, read_about, write_about, write_cell
from tests.lab.bench.report.made import Row, cell, grid

GRID: dict[str, Any] = {
    "sets": ["nyu", "kitti15"],
    "methods": ["vanilla", "mrac", "cfa_ols"],
    "families": ["uniform", "near", "dropout", "mixed_pixel"],
    "fractions": [0.0, 0.1, 0.25, 0.4],
}


def write_run(folder: Path, rows: list[Row], content: dict[str, Any] | None = None) -> Path:
    """A finished run with these rows, as the engine would have left it."""
    by_cell: dict[Any, list[Row]] = {}
    for row in rows:
        by_cell.setdefault(cell_of(row), []).append(row)
    for key, own in by_cell.items():
        write_cell(folder, key, own)
    protocol = Protocol.of({"name": "made", "grid": [content or GRID]})
    methods = list(dict.fromkeys(row["method"] for row in rows))
    about = {
        "protocol": protocol.to_json(),
        "protocol_hash": protocol.hash,
        "command": "mrac bench run --protocol made --data pack --out run",
        "commit": "abc",
        "machine": {"cores": 2, "platform": "Linux x86_64"},
        "started": "2026-11-15T15:00:00+00:00",
        "chosen": {"methods": methods},
        "methods": methods,
        "sets": {name: {"images": 4} for name in dict.fromkeys(row["set"] for row in rows)},
    }
    write_about(folder, about)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", grid({"vanilla": 0.2, "mrac": 0.1, "cfa_ols": 0.3}))


def written(run: Path, out: Path, **options: Any) -> Written:
    said: list[str] = []
    runs = options.pop("runs", (run,))
    return write_report(ReportOptions(runs=runs, out=out, **options), said.append)


def read_cells(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((out / "cells.csv").read_text().splitlines()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    """A report with all that a run without data can give."""
    folder = tmp_path_factory.mktemp("whole")
    run = write_run(folder / "run", grid({"vanilla": 0.2, "mrac": 0.1, "cfa_ols": 0.3}))
    return folder / "out", written(run, folder / "out", against_paper=True)


def test_every_kind_of_file_is_written_and_nothing_is_left_over(whole: tuple[Path, Written]) -> None:
    out, done = whole
    assert (done.num_missing, done.num_failed) == (0, 0)
    assert done.num_cells == 2 * 3 * 13
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {"report.md", "report.html", "cells.csv", "tables/scorecard.csv", "tables/scorecard.tex"} <= names
    assert {f"figures/robustness.{kind}" for kind in ("png", "svg", "pdf")} <= names
    assert len([name for name in names if name.endswith(".tex")]) == done.num_tables
    assert not [name for name in names if Path(name).name.startswith(".")]


def test_links_of_the_page_and_pictures_of_the_text_exist(whole: tuple[Path, Written]) -> None:
    out, _ = whole
    page = (out / "report.html").read_text()
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    text = (out / "report.md").read_text()
    pictures = re.findall(r"!\[\w+\]\(([^)]+)\)", text)
    assert pictures
    assert all((out / picture).is_file() for picture in pictures)
    assert "54/64" in text
    assert "54/64" in page
    assert max(len(line) for line in text.splitlines()) <= 80


def test_without_the_paper_it_is_not_mentioned_beside_numbers(run: Path, tmp_path: Path) -> None:
    written(run, tmp_path / "out", with_figures=False)
    text = (tmp_path / "out" / "report.md").read_text()
    assert "_paper" not in text
    assert "in the paper:" not in text
    assert not (tmp_path / "out" / "figures").exists()


def test_cells_that_are_planned_and_missing_stand_in_every_table(run: Path, tmp_path: Path) -> None:
    whole = grid({"vanilla": 0.2, "mrac": 0.1, "cfa_ols": 0.3})
    rows = [row for row in whole if (row["method"], row["family"]) != ("mrac", "near")]
    rows += cell("mrac", [0.1, None, 0.1, 0.1], family="near", fraction=0.25)
    done = written(write_run(tmp_path / "half", rows), tmp_path / "out", with_figures=False)
    assert (done.num_missing, done.num_failed) == (5, 1)
    text = (tmp_path / "out" / "report.md").read_text()
    near = text.split("### Table II:")[1].split("###")[0]
    assert re.search(r"\| MRAC/van +\| +0\.100\*? +\| +missing", near)
    assert "1 planned cell is missing" in near
    assert "1 of 20 image results failed" in near
    cells = {(r["set"], r["method"], r["family"], r["fraction"]): r for r in read_cells(tmp_path / "out")}
    gone = cells["kitti15", "mrac", "near", "0.25"]
    assert (gone["abs_rel"], gone["seeds"], gone["missing_seeds"]) == ("", "", "0")
    assert cells["nyu", "mrac", "near", "0.25"]["failed"] == "1"


def test_the_numbers_of_cells_csv_are_the_run_s(run: Path, tmp_path: Path) -> None:
    written(run, tmp_path / "out", with_figures=False)
    rows = read_cells(tmp_path / "out")
    clean = next(r for r in rows if (r["set"], r["method"], r["family"]) == ("nyu", "mrac", "none"))
    assert (float(clean["abs_rel"]), float(clean["delta1"]), clean["images"]) == (0.1015, 0.8985, "4")
    assert 0.1 <= float(clean["abs_rel_low"]) < 0.1015 < float(clean["abs_rel_high"]) <= 0.103


def test_several_runs_make_one_report(run: Path, tmp_path: Path) -> None:
    seeds = [row for s in (0, 1, 2) for row in cell("vanilla", [0.5] * 4, seed=s, family="near", fraction=0.25)]
    lists = {"sets": ["nyu"], "methods": ["vanilla"], "families": ["near"], "fractions": [0.25], "seeds": [0, 1, 2]}
    more = write_run(tmp_path / "seeds", seeds, lists)
    context = read_context(ReportOptions(runs=(run, more), out=tmp_path))
    near = CellKey(set="nyu", method="vanilla", family="near", fraction=0.25)
    # Seed 0 is the first run's: 0.2015 · 1.25.
    assert context.results.mean("abs_rel", near).value == pytest.approx((0.251875 + 0.5 + 0.5) / 3)
    assert context.repeated == 4


def test_the_same_run_gives_the_same_report(run: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(run, tmp_path / name, against_paper=True, with_figures=False)
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_plan_that_cannot_be_read_here_is_admitted(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", cell("somebody_elses", [0.1], set="nyu"))
    written(run, tmp_path / "out", with_figures=False)
    assert "What was planned cannot be told here" in " ".join((tmp_path / "out" / "report.md").read_text().split())


def test_a_folder_that_is_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no run\.json"):
        read_context(ReportOptions(runs=(tmp_path,), out=tmp_path))
    write_about(tmp_path, {"protocol": {}})
    with pytest.raises(ContractError, match="no finished cell"):
        read_context(ReportOptions(runs=(tmp_path,), out=tmp_path))


def judged(_: Results) -> list[Verdict]:
    same = {"group": "The abstract", "holds_when": "always", "protocol": "paper"}
    return [
        Verdict(place="Table I", says="It `is` so.", here="0.1", verdict="holds", **same),
        Verdict(place="Fig. 3", says="It is flat.", here="0.9", verdict="does not hold", **same),
        Verdict(place="real", says="Does it help?", here="0.5", verdict="in part (1 of 2)", **same),
    ]


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_the_report_opens_with_its_answer_and_ends_with_where_it_comes_from(
    run: Path, tmp_path: Path, name: str
) -> None:
    written(run, tmp_path / "out", judge=judged, changes=("less is more",), kinds=("png",))
    text = (tmp_path / "out" / name).read_text()
    in_order = [
        "Lowest error of 3 methods in 26 conditions: MRAC/van in 26.",
        "Mean over all corrupted conditions: MRAC/van 0.127",
        "The answer: AbsRel",
        "AbsRel against the share of wrong readings",
        "What holds and what does not",
        "It is flat.",
        "less is more",
        "Table I: AbsRel",
        "Where the rows come from",
        "All rows are of one commit, abc.",
        "mrac bench run --protocol made",
    ]
    at = [" ".join(text.split()).find(words) for words in in_order]
    assert at == sorted(at)
    assert at[0] >= 0
    assert len(re.findall(r'<figure id="robustness">|!\[robustness\]', text)) == 1
    assert (tmp_path / "out" / "tables" / "answer.csv").is_file()


def test_rows_of_several_commits_or_of_changes_are_announced_first(tmp_path: Path) -> None:
    runs: list[Path] = []
    for name, commit in (("a", "abc"), ("b", "def+changes"), ("c", None)):
        rows = cell("vanilla", [0.1], num_anchors=len(runs) + 5)
        lists = {"sets": ["nyu"], "methods": ["vanilla"], "anchors": [len(runs) + 5]}
        runs.append(write_run(tmp_path / name, rows, lists))
        write_about(runs[-1], (read_about(runs[-1]) or {}) | {"commit": commit})
    written(runs[0], tmp_path / "out", runs=tuple(runs), with_figures=False)
    for name in ("report.md", "report.html"):
        text = " ".join((tmp_path / "out" / name).read_text().split())
        for line in ("Rows come from 3 commits", "Uncommitted changes: rows of def+changes", "No commit is recorded"):
            assert text.index(line) < text.index("Contents")
    written(runs[0], tmp_path / "one", with_figures=False)
    text = (tmp_path / "one" / "report.md").read_text()
    assert "commits" not in text
    assert "All rows are of one commit, abc." in text


def test_results_are_counted_once_and_it_is_said_what_they_are(run: Path, tmp_path: Path) -> None:
    again = write_run(tmp_path / "again", cell("vanilla", [0.5] * 4))
    written(run, tmp_path / "out", runs=(run, again), with_figures=False)
    text = " ".join((tmp_path / "out" / "report.md").read_text().split())
    assert "312 results, each counted once: one image, scored for one method" in text
    assert "78 cells (condition, method, seed). 0 failed. 4 rows that a second run has again are not counted." in text
