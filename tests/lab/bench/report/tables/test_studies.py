"""Tables of the studies, on runs of a handful of cells."""

import json
from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.report.ablation import Ablation
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.tables import budget, clean, foundations, kappa, losses, noise, placement, real
from tests.lab.bench.report.made import Row, cell, context

NEAR: dict[str, Any] = {"family": "near", "fraction": 0.25}


def texts(table: Table) -> dict[str, list[str]]:
    return {row.label: [entry.text for entry in row.entries] for row in table.rows}


def test_clean_readings_are_table_iv() -> None:
    rows = [*cell("raw_depth", [0.2, 0.4]), *cell("cfa_ols", [0.1]), *cell("vanilla", [0.05], num_anchors=100)]
    (table,) = clean.tables(context(rows))
    assert texts(table) == {"raw depth": ["0.300"], "cfa-ols": ["0.100"]}
    assert [row.entries[0].paper.text for row in table.rows if row.entries[0].paper] == ["0.207", "0.155"]


def sweep() -> list[Row]:
    rows = []
    for value, method in ((1.5, "mrac_b_prime;gate=theil_sen_mad:kappa=1.5"), (2, "mrac_b_prime")):
        for set_name in ("nyu", "kitti15"):
            gate: dict[str, Any] = {"gate_precision": value / 4, "gate_recall": 1 - value / 4}
            rows += cell(method, [value / 10] * 2, set=set_name, **NEAR, **gate)
    return rows


def test_kappa_is_read_from_the_method_and_its_own_gate() -> None:
    errors, precision, recall = kappa.tables(context(sweep()))
    assert errors.columns == ("κ = 1.5", "κ = 2")
    assert texts(errors) == {
        "NYUv2, near": ["0.150", "0.200"], "KITTI-15, near": ["0.150", "0.200"], "mean": ["0.150", "0.200"]
    }  # fmt: skip
    assert [entry.best for entry in errors.rows[0].entries] == [True, False]
    assert errors.legend == "best of its row."
    assert [entry.paper.text for entry in errors.rows[0].entries if entry.paper] == ["0.104", "0.106"]
    assert texts(precision)["mean"] == ["0.38", "0.50"]
    mean = recall.rows[-1].entries[1]
    assert mean.paper is not None
    assert (mean.text, mean.paper.text) == ("0.50", "0.83")


def test_a_mean_is_not_made_of_half_the_cells() -> None:
    rows = sweep()
    gone = CellKey(set="kitti15", method="mrac_b_prime", **NEAR)
    left = [row for row in rows if (row["set"], row["method"]) != ("kitti15", "mrac_b_prime")]
    errors = kappa.tables(context(left, missing=[gone]))[0]
    assert texts(errors) == {
        "NYUv2, near": ["0.150", "0.200"], "KITTI-15, near": ["0.150", "missing"], "mean": ["0.150", "–"]
    }  # fmt: skip


def test_one_kappa_is_no_sweep() -> None:
    assert kappa.tables(context(cell("mrac_b_prime", [0.1], **NEAR))) == []


def test_the_curve_over_k_with_the_paper_s_points() -> None:
    rows = [row for K in (1, 5, 50) for row in cell("vanilla", [1 / K], num_anchors=K)]
    (table,) = budget.tables(context([*rows, *cell("mrac", [0.1])]))
    assert texts(table) == {"1": ["1.000"], "5": ["0.200"], "50": ["0.020"]}
    assert [row.entries[0].paper.text for row in table.rows if row.entries[0].paper] == ["1.586", "0.178", "0.099"]
    assert budget.tables(context(rows[:2])) == []


def test_the_learner_at_both_budgets() -> None:
    rows = [row for K in (50, 150) for row in cell("sml_retrained", [K / 1000], num_anchors=K, set="kitti15", **NEAR)]
    (table,) = budget.tables(context(rows))
    assert texts(table) == {"SML retrained": ["0.050", "0.150"]}
    assert [entry.paper.text for entry in table.rows[0].entries if entry.paper] == ["0.491", "0.490"]


def test_placements_by_budget() -> None:
    rows = [
        row
        for K in (5, 10)
        for where, value in (("random", 0.1), ("stratified", 0.2))
        for row in cell("raw_depth", [value], num_anchors=K, placement=where)
    ]
    (table,) = placement.tables(context(rows))
    assert table.columns == ("K = 5", "K = 10")
    assert texts(table) == {"random": ["0.100", "0.100"], "stratified": ["0.200", "0.200"]}
    assert [entry.paper.text for entry in table.rows[1].entries if entry.paper] == ["0.132", "0.125"]
    assert "beside raw depth" in table.notes[0]
    assert placement.tables(context(cell("raw_depth", [0.1]))) == []


def test_noise_in_order_of_its_size() -> None:
    rows = cell("vanilla", [0.1])
    for sigma in ("0.5", "0.05"):
        rows += cell("vanilla", [0.1 + float(sigma)], family=f"gaussian:sigma_m={sigma}", fraction=1.0)
    (table,) = noise.tables(context(rows))
    assert table.columns == ("clean", "σ 0.05", "σ 0.5")
    assert texts(table) == {"vanilla": ["0.100", "0.150", "0.600"]}


def test_real_readings_with_what_was_really_wrong() -> None:
    rows = []
    for family, p, wrong in (("natural", 0.0, 2), ("enriched", 0.25, 12)):
        given = {"num_anchors_given": 50, "num_wrong": wrong, "source": "lidar", "family": family, "fraction": p}
        for seed in (0, 1):
            rows += cell("vanilla", [0.2 + 0.1 * seed], seed=seed, set="kitti15", **given)
            gate: dict[str, Any] = {"gate_recall": 0.5, "gate_precision": None, "gate_f1": 0.4, "num_rejected": wrong}
            rows += cell("mrac", [0.1], seed=seed, set="kitti15", **gate, **given)
    errors, gates = real.tables(context(rows))
    assert errors.columns == ("as it is", "25 %")
    assert texts(errors) == {
        "really wrong, %": ["4.0", "24.0"], "vanilla": ["0.250", "0.250"], "MRAC/van": ["0.100", "0.100"]
    }  # fmt: skip
    assert "at most 0.071" in errors.notes[0]
    assert [(row.group.partition(",")[0], [entry.text for entry in row.entries]) for row in gates.rows] == [
        ("share of the wrong that were rejected", ["0.50", "0.50"]),
        ("F1", ["0.40", "0.40"]),
        ("F1", ["0.50", "0.50"]),
    ]
    assert [row.group[-len("(f1_pooled)") :] for row in gates.rows[1:]] == [" (f1_image)", "(f1_pooled)"]
    assert not any(row.has_paper for row in errors.rows)


def test_foundations_side_by_side_and_failures_named() -> None:
    rows = [*cell("cfa_ols", [0.1]), *cell("cfa_ols;foundation=none", [0.3])]
    rows += cell("cfa_ols;foundation=dav2-large", [None, None])
    (table,) = foundations.tables(context(rows))
    assert [(row.group, row.label, row.entries[0].text) for row in table.rows] == [
        ("the method's own", "cfa-ols", "0.100"),
        ("dav2-large", "cfa-ols", "failed"),
        ("none", "cfa-ols", "0.300"),
    ]
    assert foundations.tables(context(cell("cfa_ols", [0.1]))) == []


def test_losses_from_methods_with_such_weights() -> None:
    head = "residual_unet:weights=run/residual_no_cwa.onnx"
    (table,) = losses.tables(context([*cell(f"vanilla;head={head}", [0.2]), *cell("vanilla", [0.1])]))
    shown = {(row.group, row.label): row.entries[0] for row in table.rows}
    own = shown["residual on the closed form", "− cwa"]
    assert own.paper is not None
    assert (own.text, own.paper.text) == ("0.200", "0.109")
    assert shown["raw-depth head", "full"].text == "–"


def test_losses_from_the_training_s_own_table(tmp_path: Path) -> None:
    path = tmp_path / "ablation.json"
    rows = [
        {"row": "raw_full", "paper_nyu": 0.143, "loss": 1.0, "nyu_head": 0.12, "nyu_fit": 0.2, "kitti15_head": None}
    ]
    path.write_text(json.dumps({"rows": rows}))
    (table,) = losses.tables(context([], ablation=Ablation.read(path)))
    assert table.columns == ("NYUv2",)
    assert table.rows[0].entries[0].text == "0.120"


@pytest.mark.parametrize("content", ["", "[]", '{"rows": [{"no": 1}]}', '{"rows": [{"row": "a", "nyu_head": "x"}]}'])
def test_a_file_that_is_no_ablation_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ablation.json"
    path.write_text(content)
    with pytest.raises(ContractError, match=r"ablation\.json: not an ablation\.json"):
        Ablation.read(path)
    with pytest.raises(ContractError, match="no such file"):
        Ablation.read(tmp_path / "nowhere.json")
