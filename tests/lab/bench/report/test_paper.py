"""The transcription, read a second time: from the paper's source, cell by cell, where that is at hand."""

import re
from pathlib import Path

import pytest

from mrac.lab.bench.report.paper import FOLDER, Paper, read_rows
from mrac.lab.bench.report.results import CellKey

TEX = Path(__file__).parents[5] / "shared" / "paper" / "multipath_blind_spot.tex"
FILES = sorted(path.stem for path in FOLDER.glob("*.csv"))
NUMBER = r"(?<![\d.]){}(?!\d|\.\d)"
needs_paper = pytest.mark.skipif(not TEX.is_file(), reason="the paper's source is not beside the repository")


def block(label: str) -> str:
    """The table with a label, or the text from it to the next section."""
    text = TEX.read_text(encoding="utf-8")
    at = text.index(f"\\label{{{label}}}")
    if label.startswith("tab:"):
        return text[at : text.index("\\end{tabular}", at)]
    return re.split(r"\\(?:sub)?section", text[at:])[0]


def printed(label: str) -> list[tuple[str, str]]:
    """Value and spread of every number in the body of a table, as the source has them, in its order."""
    body = block(label).split("\\midrule", 1)[1].replace("{\\tiny$\\pm$", "±")
    return re.findall(r"(?<![\d.±])(\d+\.\d+)(?!\d)[^\d±&]{0,4}(?:±(\d+\.\d+))?", body)


@pytest.mark.parametrize("name", FILES)
def test_every_row_says_where_it_stands_and_stands_once(name: str) -> None:
    rows = list(read_rows(name))
    assert rows
    assert all(row["where"] and row["label"] for row in rows)
    keys = [tuple(value for key, value in row.items() if key not in ("value", "spread", "wins")) for row in rows]
    assert len(set(keys)) == len(keys)


@needs_paper
@pytest.mark.parametrize("name", FILES)
def test_every_number_occurs_where_it_is_said_to(name: str) -> None:
    for row in read_rows(name):
        if "wins" in row:
            continue
        for number in (row["value"], row.get("spread")):
            if number:
                assert re.search(NUMBER.format(re.escape(number)), block(row["label"])), row


@needs_paper
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("headline", "tab:dropout25"),
        ("headline", "tab:near25"),
        ("clean", "tab:zeroshot"),
        ("placement", "tab:placement"),
        ("losses", "tab:lossablation"),
        ("latency", "tab:latency"),
        ("kappa", "tab:kappa_absrel"),
        ("kappa", "tab:kappa_gate"),
    ],
)
def test_tables_are_whole_and_in_the_paper_s_order(name: str, label: str) -> None:
    ours = [(row["value"], row["spread"]) for row in read_rows(name) if row["label"] == label]
    assert ours == printed(label)


@needs_paper
def test_scorecards_are_the_paper_s() -> None:
    for row in read_rows("scorecard"):
        text = block(row["label"])
        whole = "all twelve cells" if row["wins"] == row["cells"] == "12" else f"{row['wins']}/{row['cells']}"
        assert whole in text.replace("\\emph{", "").replace("$", ""), row


@needs_paper
def test_the_source_has_no_more_than_captions_of_the_supplement_s_large_tables() -> None:
    # If a fuller source arrives, this fails: then there are numbers to transcribe.
    supplement = TEX.read_text(encoding="utf-8").split("\\section{Complete metric tables}")[1]
    assert "\\begin{tabular}" not in re.sub(r"%.*", "", supplement)


def test_numbers_are_found_by_cell() -> None:
    paper = Paper()
    near = CellKey(set="kitti", method="vi_depth", family="near", fraction=0.25)
    found = paper.number(near)
    assert found is not None
    assert (found.text, found.value, found.where) == ("0.489±0.002", 0.489, "Table II")
    # The K = 150 study ran the same cell again, with other anchors.
    again = paper.number(near, files=("budget",))
    assert again is not None
    assert again.text == "0.491"
    clean = paper.number(CellKey(set="nyuv2", method="mrac", family="dropout", fraction=0.0))
    assert clean is not None
    assert clean.text == "0.111"
    assert paper.number(CellKey(set="tum", method="mrac")) is None
    assert paper.number(near, "rmse") is None


def test_wins_latency_and_propagation_are_read() -> None:
    paper = Paper()
    assert {(one.wins, one.cells) for one in paper.wins} >= {(54, 64), (12, 12)}
    assert paper.latency()["kitti", "head", "time_ms"].text == "15.0±0.01"
    assert ("vi_depth", 0.0, 20.0, 0.55) in paper.propagation()
