"""Claims that rows cannot settle."""

import json
from pathlib import Path

import pytest

from mrac.lab.bench.report.paper import read_rows
from mrac.lab.studies.claim import NotRunError, Outcome
from mrac.lab.studies.claims import elsewhere
from tests.lab.studies.claims.made import results, row


def test_what_no_run_settles_is_read_from_files(tmp_path: Path) -> None:
    by_place = {one.says.split(":")[0]: one.test for one in elsewhere.claims(tmp_path)}
    nothing = results([row("nyu", "vanilla", 0.1)])
    for test in by_place.values():
        with pytest.raises(NotRunError):
            test(nothing)
    for date, took in (("2026-01-02", "4.83 µs"), ("2026-01-01", "1.2 ms")):
        (tmp_path / f"speed--x--{date}").mkdir()
        (tmp_path / f"speed--x--{date}" / "table.txt").write_text(
            f"machine: toy\n│ gate, K = 50    │ mrac     │ {took} │\n"
        )
    assert elsewhere.gate_speed(tmp_path) == Outcome("4.8 µs (toy)", (True,))
    # The paper's own table passes; its digits are those of `losses.csv`.
    rows = [
        {"row": one["method"], "nyu_head": float(one["value"])} for one in read_rows("losses") if one["set"] == "nyuv2"
    ]
    (tmp_path / "heads--x--2026-01-01").mkdir()
    (tmp_path / "heads--x--2026-01-01" / "ablation.json").write_text(json.dumps({"rows": rows}))
    # Of Fig. S1 the paper prints five figures; the bins between them are ours.
    bins = {
        "SML retrained": (0.55, 0.5, 0.47, 0.44, 0.42, 0.42),
        "vanilla": (0.26, 0.2, 0.18, 0.16, 0.14, 0.14),
        "MRAC/B′": (0.12,) * 6,
    }
    folder = tmp_path / "benchmark--x--2026-01-01" / "report" / "tables"
    folder.mkdir(parents=True)
    lines = [f"{label},{value}" for label, values in bins.items() for value in values]
    (folder / "propagation.csv").write_text("\n".join(["row,value", *lines]), encoding="utf-8")
    assert [test(nothing).verdict for test in by_place.values()] == ["holds"] * 6
