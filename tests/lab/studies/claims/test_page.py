"""The page is rewritten in place."""

from dataclasses import replace
from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.store import write_cell
from mrac.lab.studies.claim import FAMILIES, Claim, Outcome
from mrac.lab.studies.claims import changes, left_out
from mrac.lab.studies.claims import page as claims_page
from tests.lab.studies.claims.made import ALL, results, row


def test_a_question_is_answered() -> None:
    rows = [row("kitti15", m, 0.1, source="lidar") for m in ("mrac", "vanilla")]
    question = Claim(name="", place="", says="So?", holds_when="", protocol="", test=lambda _: Outcome("x", (True,)))
    answers = [question, replace(question, says="So."), replace(question, test=lambda _: Outcome("x", (False,)))]
    verdicts = [claims_page.verdict_on(one, results(rows), "here") for one in answers]
    assert [one.verdict for one in verdicts] == ["yes", "holds", "no"]
    assert {(one.here, one.group) for one in verdicts} == {("x", "here")}


def test_the_page_is_rewritten_between_its_markers_alone(tmp_path: Path) -> None:
    page, run = tmp_path / "page.md", tmp_path / "run"
    page.write_text(f"before\n{claims_page.BEGIN}\nstale\n{claims_page.END}\nafter\n")
    condition = Condition(set_name="nyu", num_anchors=1)
    cell, failed = Cell(condition, "vanilla"), Cell(condition, "mrac")
    write_cell(run, cell, [row("nyu", "vanilla", 1.5) | condition.columns])
    write_cell(run, failed, [row("nyu", "mrac", None, failure="E: no") | condition.columns])
    claims_page.main([str(run), "--page", str(page), "--results", str(tmp_path)])
    text = page.read_text()
    assert text.startswith(f"before\n{claims_page.BEGIN}\n")
    assert text.endswith(f"{claims_page.END}\nafter\n")
    assert "stale" not in text
    assert "- 1 rows of `mrac`: E: no\n" in text
    assert "**No commit is recorded for rows of ?.**" in text
    assert "2 results, each counted once" in text
    assert f"## {left_out.TITLE}" in text
    assert "- The abstract, sentence by sentence: holds 2, not measured 10.\n" in text
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| paper, protocol")]
    assert len(lines) == len(ALL)
    assert all(line.count(" | ") == 4 for line in lines)
    assert text.count("| **not measured** |") == len(lines) - 2  # what is read from the code needs no run
    claims_page.main([str(run), "--page", str(page), "--results", str(tmp_path)])
    assert page.read_text() == text


@pytest.mark.parametrize(
    "page", ["", claims_page.BEGIN, f"{claims_page.END}\n{claims_page.BEGIN}", claims_page.BEGIN * 2 + claims_page.END]
)
def test_a_page_without_its_markers_is_refused(page: str) -> None:
    with pytest.raises(ContractError, match="the page needs one line"):
        claims_page.rewritten(page, "new")


def test_our_own_page_has_its_markers() -> None:
    page = (Path(__file__).parents[4] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert "new" in claims_page.rewritten(page, "new")


def test_the_page_says_that_the_gate_knew_the_families_and_quotes_the_left_out_ones(tmp_path: Path) -> None:
    assert "**not measured**" in left_out.section(tmp_path / "consensus.md")
    page = Path(__file__).parents[4] / "docs" / "consensus.md"
    text = left_out.section(page)
    assert "was trained on scenes with all four families" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert {family for family in FAMILIES if any(f"`{family}`" in line for line in rows)} == set(FAMILIES)
    assert not any("stereo" in line or "patch" in line for line in rows)


def test_what_changed_is_read_from_the_changelog(tmp_path: Path) -> None:
    log = tmp_path / "CHANGELOG.md"
    assert changes.section(log) == ""
    log.write_text(f"# Log\n\n- other\n\n### {changes.TITLE}\n\n- one\n  goes on\n- two\n\nThe end.\n\n- not this\n")
    assert changes.changes(log) == ["one goes on", "two"]
    assert changes.section(log) == f"## {changes.TITLE}\n\n- one goes on\n- two\n"


def test_our_own_changelog_says_what_changed_in_the_results() -> None:
    assert changes.changes(Path(__file__).parents[4] / "CHANGELOG.md")
