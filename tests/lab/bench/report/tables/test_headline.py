from typing import Any

from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.tables import headline
from tests.lab.bench.report.made import cell, context, grid

NEAR: dict[str, Any] = {"family": "near", "fraction": 0.25}


def test_ours_beside_the_paper_s_with_spread_over_seeds() -> None:
    rows = [
        row for s, v in enumerate((0.1, 0.2, 0.3)) for row in cell("vanilla", [v] * 2, seed=s, set="kitti15", **NEAR)
    ]
    rows += cell("mrac", [0.15] * 2, set="kitti15", **NEAR)
    rows += [*cell("vanilla", [0.5], set="tum", **NEAR), *cell("mrac", [0.4], set="tum", **NEAR)]
    (table,) = headline.tables(context(rows))
    assert table.key == "absrel_near_25"
    assert table.title.startswith("Table II:")
    assert table.columns == ("KITTI-15", "TUM")
    vanilla, mrac = table.rows
    assert [entry.text for entry in vanilla.entries] == ["0.200±0.100", "0.500"]
    assert vanilla.entries[0].paper is not None
    assert vanilla.entries[0].paper.text == "0.170±0.000"
    assert vanilla.entries[1].paper is None  # the paper has no TUM
    assert [entry.best for entry in mrac.entries] == [True, True]
    assert "3 seeds" in table.about


def test_the_learner_that_stands_for_vi_depth_is_named_so() -> None:
    rows = [*cell("vanilla", [0.2], **NEAR), *cell("sml_retrained", [0.3], **NEAR)]
    row = headline.tables(context(rows))[0].rows[1]
    assert row.paper_label == "paper, VI-Depth"
    assert row.entries[0].paper is not None
    assert row.entries[0].paper.text == "0.250±0.001"
    # Where VI-Depth itself was run, its number is its own.
    both = headline.tables(context([*rows, *cell("vi_depth", [0.3], **NEAR)]))[0].rows
    assert [row.has_paper for row in both] == [True, False, True]


def test_missing_and_failed_cells_are_shown_and_counted() -> None:
    rows = [*cell("vanilla", [0.2, None], **NEAR), *cell("mrac", [None, None], **NEAR)]
    gone = CellKey(set="nyu", method="b_prime", **NEAR)
    (table,) = headline.tables(context(rows, missing=[gone]))
    assert [(row.label, row.entries[0].text) for row in table.rows] == [
        ("vanilla", "0.200"), ("B′", "missing"), ("MRAC/van", "failed")
    ]  # fmt: skip
    assert any("1 planned cell" in note for note in table.notes)
    assert any("3 of 4 image results failed" in note for note in table.notes)


def test_a_cell_that_nobody_asked_for_is_not_called_missing() -> None:
    rows = [*cell("vanilla", [0.2], **NEAR), *cell("mrac", [0.1], **NEAR), *cell("vanilla", [0.2], set="tum", **NEAR)]
    (table,) = headline.tables(context(rows))
    assert table.rows[1].entries[1].text == "–"
    assert table.notes == ()


def test_the_limits_are_shown_on_kitti_alone() -> None:
    found = headline.tables(context(grid({"vanilla": 0.3, "ransac_residual": 0.2})))
    assert [table.key for table in found] == ["absrel_dropout_25", "absrel_near_25", "limits_kitti15"]
    limits = found[-1]
    assert limits.columns == ("uniform 40 %", "near 40 %", "dropout 40 %", "mixed 40 %")
    patch = limits.rows[1].entries
    assert [entry.paper.text if entry.paper else "" for entry in patch] == ["0.198", "", "6.082±0.008", "0.220"]


def test_a_study_of_one_method_is_no_headline() -> None:
    rows = [*cell("mrac_b_prime", [0.2], **NEAR), *cell("mrac_b_prime;gate=theil_sen_mad:kappa=3", [0.2], **NEAR)]
    assert headline.tables(context(rows)) == []


def test_without_the_paper_there_is_nothing_beside_ours() -> None:
    (table,) = headline.tables(context([*cell("vanilla", [0.2], **NEAR), *cell("mrac", [0.1], **NEAR)], paper=False))
    assert not any(row.has_paper for row in table.rows)
    assert table.differences == ()
