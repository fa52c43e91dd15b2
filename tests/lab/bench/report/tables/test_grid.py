"""Tables of the whole grid: all metrics, references, coverage, gates, times."""

from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.tables import complete, cost, coverage, gates, overview, scorecard
from tests.lab.bench.report.made import cell, context, grid


def test_all_metrics_of_every_set_and_family_with_the_clean_rows_in_each() -> None:
    found = complete.tables(context(grid({"vanilla": 0.2, "mrac": 0.1, "cfa_ols": 0.3})))
    keys = [table.key for table in found]
    assert len([key for key in keys if key.startswith("metrics_")]) == 8
    table = next(table for table in found if table.key == "metrics_kitti15_near")
    assert [row.group for row in table.rows] == ["p = 0 %"] * 2 + ["p = 10 %"] * 2 + ["p = 25 %"] * 2 + ["p = 40 %"] * 2
    vanilla, mrac = table.rows[:2]
    assert [entry.text for entry in mrac.entries] == ["0.102"] * 5 + ["0.899"] * 3  # (0.1 + … + 0.103) / 4, and 1 minus
    assert all(entry.best for entry in mrac.entries)
    assert not any(entry.best for entry in vanilla.entries)
    assert any("not in the copy at hand" in note for note in table.notes)


def test_references_over_the_grid() -> None:
    found = complete.tables(context(grid({"vanilla": 0.2, "cfa_ols": 0.3, "cfa_huber": 0.1})))
    table = next(table for table in found if table.key == "references_nyu")
    assert table.columns == ("cfa-ols", "cfa-huber")
    assert len(table.rows) == 16
    first = table.rows[0].entries[0]
    assert first.paper is not None
    assert first.paper.text == "0.155"
    assert table.rows[1].entries[0].paper is None


def test_the_supplement_s_budget_of_150() -> None:
    rows = grid({"sml_retrained": 0.2}, sets=("nyu",), num_anchors=150)
    (table,) = [table for table in complete.tables(context(rows)) if table.key == "budget150_nyu"]
    assert [row.group for row in table.rows][:2] == ["clean", "uniform, 10 %"]
    assert len(table.rows) == 13
    # A sweep over K of clean readings that passes through 150 is no such table.
    assert complete.tables(context(cell("vanilla", [0.1], num_anchors=150))) == []


def test_the_mean_over_sets_weighs_each_set_the_same() -> None:
    rows = grid({"vanilla": 0.1}, sets=("nyu",), num_images=1) + grid({"vanilla": 0.3}, sets=("tum",), num_images=9)
    (table,) = overview.tables(context(rows))
    assert table.rows[0].entries[0].value is not None
    assert abs(table.rows[0].entries[0].value - (0.1 + 0.304) / 2) < 1e-9


def test_a_mean_over_sets_needs_all_of_them() -> None:
    rows = [row for row in grid({"vanilla": 0.1}) if (row["set"], row["fraction"]) != ("nyu", 0.1)]
    gone = [CellKey(set="nyu", method="vanilla", family=f, fraction=0.1) for f in ("uniform", "near")]
    (table,) = overview.tables(context(rows, missing=gone))
    by_group = {row.group: [entry.text for entry in row.entries] for row in table.rows}
    assert by_group["near"][1] == "missing"
    assert by_group["near"][2] != "missing"


def test_coverage_in_percent_by_set() -> None:
    first, second = coverage.tables(context(grid({"vanilla": 0.2})))
    assert first.columns == ("clean", "uniform 25 %", "near 25 %", "dropout 25 %", "mixed 25 %")
    assert {entry.text for row in first.rows for entry in row.entries} == {"70"}
    assert {entry.text for row in second.rows for entry in row.entries} == {"90"}


def test_a_method_of_a_study_of_some_fractions_is_not_in_the_whole_grid_s_tables() -> None:
    rows = grid({"vanilla": 0.2, "mrac": 0.1})
    study = cell("cfa_ols;gate=theil_sen_mad", [0.1] * 4)
    study += cell("cfa_ols;gate=theil_sen_mad", [0.1] * 4, family="near", fraction=0.25)
    made = context([*rows, *study])
    (table,) = overview.tables(made)
    assert {row.label for row in table.rows} == {"vanilla", "MRAC/van"}
    assert scorecard.tables(made)[-1].columns == ("van", "M/van")


def test_gates_that_reject_nothing_are_left_out() -> None:
    rows = grid({"vanilla": 0.2}, gate_recall=0.0, gate_precision=None)
    rows += grid({"mrac": 0.1}, gate_recall=0.8, gate_precision=0.75)
    recall, precision = gates.tables(context(rows))
    assert {row.label for row in (*recall.rows, *precision.rows)} == {"MRAC/van"}
    assert recall.rows[0].entries[0].text == "0.800"


def test_times_and_the_paper_s_components() -> None:
    rows = [*cell("vanilla", [0.1] * 3, time_ms=8.0), *cell("vanilla", [0.1] * 3, set="tum", time_ms=4.0)]
    (table,) = cost.tables(context(rows))
    shown = {row.label: [entry.text for entry in row.entries] for row in table.rows}
    assert shown["vanilla"] == ["8.0", "4.0"]
    assert shown["foundation"] == ["24.2±0.26", "–"]
    assert shown["images per second"] == ["29.0", "–"]


def test_times_of_different_machines_are_not_mixed_and_those_of_a_shared_gpu_are_left_out() -> None:
    rows = cell("vanilla", [0.1] * 3, time_ms=8.0, hardware="cpu, 16 cores")
    rows += cell("vanilla", [0.1] * 3, seed=1, time_ms=100.0, hardware="cuda, 16 cores")
    rows += cell("mrac", [0.1] * 3, time_ms=30.0, hardware="cpu, 2 cores")
    (table,) = cost.tables(context(rows, paper=False))
    shown = {(row.group, row.label): row.entries[0].text for row in table.rows}
    assert shown == {
        ("here, one core (cpu, 16 cores)", "vanilla"): "8.0",
        ("here, one core (cpu, 2 cores)", "MRAC/van"): "30.0",
    }
    assert cost.tables(context(cell("vanilla", [0.1], hardware="cuda, 16 cores"), paper=False)) == []
