from mrac.lab.bench.report.tables import scorecard
from tests.lab.bench.report.made import cell, context, grid

SETS = ("nyu", "kitti15", "sunrgbd", "tum")


def test_the_paper_s_pairs_with_its_counts() -> None:
    levels = {"vanilla": 0.3, "b_prime": 0.2, "mrac": 0.1, "mrac_b_prime": 0.25, "sml_retrained": 0.28}
    card, by_family, by_set, matrix = scorecard.tables(context(grid(levels, sets=SETS)))
    shown = {row.label: row.entries[0] for row in card.rows}
    assert shown["MRAC/van vs vanilla"].text == "64/64"
    assert shown["MRAC/B′ vs B′"].text == "0/64"
    assert shown["MRAC/B′ vs SML retrained"].text == "64/64"
    printed = {label: entry.paper.text for label, entry in shown.items() if entry.paper}
    assert printed["MRAC/van vs vanilla"] == "54/64"
    assert printed["MRAC/B′ vs SML retrained"] == "34/64"
    assert [row.entries[2].text for row in card.rows[:2]] == ["[64, 64]", "[0, 0]"]
    assert [row.entries[3].text for row in card.rows[:2]] == ["52/52", "0/52"]

    against_learner = next(row for row in by_family.rows if row.label == "MRAC/B′ vs SML retrained")
    assert [entry.text for entry in against_learner.entries] == ["16/16"] * 4
    assert [entry.paper.text if entry.paper else "" for entry in against_learner.entries] == ["", "13/16", "", ""]
    assert "MRAC/B′ vs SML retrained 12/12" in by_family.notes[0]
    on_kitti = next(row for row in by_set.rows if row.label == "MRAC/B′ vs SML retrained").entries[1]
    assert on_kitti.paper is not None
    assert (on_kitti.text, on_kitti.paper.text) == ("16/16", "16/16")

    wins = {(row.label, c): e.text for row in matrix.rows for c, e in zip(matrix.columns, row.entries, strict=True)}
    assert wins["MRAC/van", "van"] == "64"
    assert wins["vanilla", "M/van"] == "0"
    assert wins["vanilla", "van"] == "·"


def test_what_could_not_be_compared_is_admitted() -> None:
    rows = [row for row in grid({"vanilla": 0.3, "mrac": 0.1}) if (row["method"], row["set"]) != ("mrac", "nyu")]
    card = scorecard.tables(context(rows))[0]
    assert card.rows[0].entries[0].text == "16/16"
    assert card.notes[0].startswith("16 comparisons of cells are missing")
    failing = [
        row | ({"abs_rel": None} if row["image"] == "0002" else {}) for row in grid({"vanilla": 0.3, "mrac": 0.1})
    ]
    assert any("pairs of image results" in note for note in scorecard.tables(context(failing))[0].notes)


def test_nothing_corrupted_nothing_counted() -> None:
    assert scorecard.tables(context([*cell("vanilla", [0.2]), *cell("mrac", [0.1])])) == []
