import pytest

from mrac.lab.bench.report.table import FAILED, MISSING, Entry, Row, Table, mark_best, shortfall


def rows(*columns: list[float | None], group: str = "") -> list[Row]:
    lines = zip(*columns, strict=True)
    return [Row(label=str(i), entries=tuple(Entry(value=v) for v in line), group=group) for i, line in enumerate(lines)]


def marked(lines: tuple[Row, ...]) -> list[list[bool]]:
    return [[entry.best for entry in row.entries] for row in lines]


def test_text_of_an_entry() -> None:
    assert Entry(value=0.1054).text == "0.105"
    assert Entry(value=0.1054, spread=0.0008).text == "0.105±0.001"
    assert Entry(value=0.1054, spread=0.0008, show_spread=False).text == "0.105"
    assert Entry(value=54.0, interval=(50.0, 57.0), decimals=0).text == "54 [50, 57]"
    assert Entry(value=-0.5, decimals=1).text == "−0.5"
    assert Entry(state=MISSING).text == "missing"


def test_best_is_per_column_and_way() -> None:
    lines = mark_best(rows([0.2, 0.1, 0.3], [0.2, 0.1, 0.3]), ["lower", "higher"])
    assert marked(lines) == [[False, False], [True, False], [False, True]]


def test_best_is_per_group() -> None:
    lines = mark_best([*rows([0.2, 0.1], group="a"), *rows([0.4, 0.3], group="b")], ["lower"])
    assert marked(lines) == [[False], [True], [False], [True]]


def test_what_looks_equal_is_marked_alike_and_what_most_have_is_not_marked() -> None:
    assert marked(mark_best(rows([0.1001, 0.1002, 0.2, 0.3]), ["lower"])) == [[True], [True], [False], [False]]
    assert not any(flag for line in marked(mark_best(rows([0.1001, 0.1002, 0.2]), ["lower"])) for flag in line)


def test_one_alone_and_missing_ones_are_not_the_best() -> None:
    assert marked(mark_best(rows([0.1, None]), ["lower"])) == [[False], [False]]
    assert marked(mark_best(rows([None, 0.2, 0.1]), ["lower"])) == [[False], [False], [True]]


def test_best_across_a_row() -> None:
    lines = mark_best(rows([0.2, 0.1], [0.1, 0.2], [0.3, 0.3]), ["lower"], across=True)
    assert marked(lines) == [[False, True, False], [True, False, False]]


def test_the_foot_admits_what_is_missing_and_what_failed() -> None:
    entries = (
        Entry(value=0.1, num_images=10, num_failed=2),
        Entry(state=MISSING, num_missing=1),
        Entry(value=0.2, num_images=10, num_missing=2),
        Entry(state=FAILED, num_images=5, num_failed=5),
    )
    missing, failed = shortfall([Row(label="a", entries=entries)])
    assert missing.startswith("3 planned cells are missing")
    assert failed.startswith("7 of 25 image results failed")
    assert shortfall([Row(label="a", entries=(Entry(value=0.1, num_images=10),))]) == ()


def test_rows_have_an_entry_per_column() -> None:
    with pytest.raises(ValueError, match="row 'a'"):
        Table(key="t", title="t", about="", corner="", columns=("x", "y"), rows=(Row(label="a", entries=(Entry(),)),))
