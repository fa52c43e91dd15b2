import re

from mrac.lab.bench.report.table import Entry, Row, Table
from mrac.lab.bench.report.writers.markdown import WIDTH, escape, wrap, write_table
from tests.lab.bench.report.writers.made_table import TABLE


def grid(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_all_that_the_table_has() -> None:
    assert grid(write_table(TABLE)) == [
        ["method", "NYUv2", "KITTI-15", "a\\|b"],
        ["-----------------", "----------:", "----------:", "-----:"],
        ["**first**", "", "", ""],
        ["vanilla", "0.347±0.000", "missing", "failed"],
        ["_paper, VI-Depth_", "0.347±0.001", "1.490±0.005", ""],
        ["**second**", "", "", ""],
        ["B′\\_x", "0.100*", "–", "2.000"],
    ]


def test_prose_and_table_stay_within_eighty_columns_and_columns_stand_straight() -> None:
    text = write_table(TABLE)
    assert max(map(len, text.splitlines())) <= WIDTH
    widths = {len(line) for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    for words in ("Here, and in the paper: NYUv2 6 images (654);", "1 planned cell is missing.", "best of its column"):
        assert words in " ".join(text.split())


def test_a_wide_table_goes_without_air_rather_than_over_the_edge() -> None:
    entries = tuple(Entry(value=0.1234) for _ in range(8))
    columns = tuple(f"m{i}" for i in range(8))
    rows = (Row(label="SML retrained!!!", entries=entries, group="a heading that is longer than the first column"),)
    wide = Table(key="w", title="w", about="w", corner="method", columns=columns, rows=rows)
    lines = [line for line in write_table(wide).splitlines() if line.startswith("|")]
    assert max(map(len, lines)) <= WIDTH
    assert lines[2].count("|") == lines[0].count("|")


def test_escapes() -> None:
    assert escape("a|b*c`d<e>") == "a\\|b\\*c\\`d\\<e\\>"
    assert escape("mrac_b_prime") == "mrac_b_prime"  # within a word it is no emphasis
    assert escape("_x_ [a](b) [1, 2]") == "\\_x\\_ [a\\](b) [1, 2]"


def test_wrapped_lists_are_indented() -> None:
    assert wrap("- " + "word " * 40, "  ").splitlines()[1].startswith("  word")
