from typing import Any

import pytest

from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.tables import placement, trust
from tests.lab.bench.report.made import Row, cell, context

CLEAN: dict[str, Any] = {"num_anchors_given": 50, "num_wrong": 0, "num_rejected": 1}
ROW: dict[str, Any] = {"placement": "beams:num=1"}


def texts(table: Table) -> dict[str, list[str]]:
    return {row.label: [entry.text for entry in row.entries] for row in table.rows}


def sensors(**own: Any) -> list[Row]:
    rows = []
    anywhere: dict[str, Any] = {}
    for where in (anywhere, ROW):
        rows += cell("default", [0.1, 0.12], **where, **(CLEAN | (own if where else {})))
        rows += cell("default;gate=none", [0.2, 0.2], **where, **CLEAN | {"num_rejected": 0})
        rows += cell("default;foundation=none", [0.3, None], **where, **CLEAN)
    return rows


def test_sensors_stand_beside_their_rivals() -> None:
    (table,) = trust.tables(context(sensors()))
    assert table.columns == (
        "right kept, %", "AbsRel", "no gate", "no network", "within 90 % interval, %", "images", "status", "bar",
    )  # fmt: skip
    line = ["98", "0.110", "0.200", "0.300", "90", "2", "ok 2", "holds"]
    assert texts(table) == {"random, K = 50": line, "one row, K = 50": line}
    assert {row.group for row in table.rows} == {"NYUv2"}
    assert any("2 of 12 image results failed" in note for note in table.notes)


def test_what_is_missed_is_named() -> None:
    (table,) = trust.tables(context(sensors(num_rejected=25, coverage_90=0.7, status="two_anchors")))
    assert texts(table)["one row, K = 50"][-3:] == ["2", "two_anchors 2", "missed: kept, coverage"]


def test_cells_that_were_planned_are_missing() -> None:
    rows = [row for row in sensors() if row["placement"] == "random" or row["method"] != "default"]
    missing = [CellKey(set="nyu", method="default", placement="beams:num=1")]
    (table,) = trust.tables(context(rows, missing=missing))
    assert texts(table)["one row, K = 50"] == ["missing", "missing", "0.200", "0.300", *["missing"] * 4]


@pytest.mark.parametrize("method", ["default", "default;gate=none"])
def test_no_sensor_no_table(method: str) -> None:
    assert trust.tables(context(cell(method, [0.1], **CLEAN))) == []


def test_random_readings_of_another_study_are_not_the_sensors() -> None:
    other = [row for m in ("default", "default;gate=none") for row in cell(m, [0.1], num_anchors=200, **CLEAN)]
    (table,) = trust.tables(context([*sensors(), *other]))
    assert list(texts(table)) == ["random, K = 50", "one row, K = 50"]


def test_sensors_are_not_in_table_v() -> None:
    assert placement.tables(context(sensors())) == []
    (table,) = placement.tables(context([*sensors(), *cell("default", [0.5], placement="stratified", **CLEAN)]))
    assert list(texts(table)) == ["random", "stratified"]


def test_failing_foundations_stand_beside_no_network() -> None:
    near: dict[str, Any] = {
        "family": "near",
        "fraction": 0.25,
        "num_anchors_given": 50,
        "num_wrong": 12,
        "num_rejected": 12,
    }
    near["gate_recall"] = 1.0
    rows = []
    for where in (CLEAN, near):
        rows += cell("default", [0.1], **where)
        rows += cell("default;foundation=none", [0.2], **where)
        rows += cell("default;fault=upside_down", [0.21], **where)
    (table,) = trust.tables(context(rows))
    assert texts(table) == {
        "as it is, clean": ["98", "0.100", "0.200", "90", "1", "ok 1", "holds"],
        "upside down, clean": ["98", "0.210", "0.200", "90", "1", "ok 1", "missed: AbsRel"],
        "as it is, near 25 %": ["100", "0.100", "0.200", "90", "1", "ok 1", "holds"],
        "upside down, near 25 %": ["100", "0.210", "0.200", "90", "1", "ok 1", "missed: AbsRel"],
    }
