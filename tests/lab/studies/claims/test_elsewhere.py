"""Claims that rows cannot settle."""

import json
from pathlib import Path

import pytest

from mrac.lab.studies.claim import NotRunError, Outcome
from mrac.lab.studies.claims import elsewhere


def test_the_latest_table_of_speeds_counts(tmp_path: Path) -> None:
    for date, took in (("2026-01-02", "4.83 µs"), ("2026-01-01", "1.2 ms")):
        (tmp_path / f"speed--x--{date}").mkdir()
        (tmp_path / f"speed--x--{date}" / "table.txt").write_text(
            f"machine: toy\n│ gate, K = 50    │ mrac     │ {took} │\n"
        )
    assert elsewhere.gate_speed(tmp_path) == Outcome("4.8 µs (toy)", (True,))


def write_ablation(folder: Path, *rows: dict[str, object]) -> None:
    (folder / "ablation--x--2026-01-01").mkdir()
    (folder / "ablation--x--2026-01-01" / "ablation.json").write_text(json.dumps({"rows": rows}))


def test_a_row_trained_with_several_seeds_counts_by_its_mean(tmp_path: Path) -> None:
    pairs = [("residual_full", 0.10), ("residual_full", 0.12), ("residual_no_res", 0.10), ("residual_no_res", 0.11)]
    write_ablation(tmp_path, *({"row": name, "nyu_head": e, "kitti15_head": e} for name, e in pairs))
    outcome = elsewhere.res_term(tmp_path)
    assert outcome.here.endswith("NYUv2 0.110 to 0.105, KITTI-15 0.110 to 0.105")
    assert outcome.verdict == "holds"


def test_cwa_is_judged_off_the_training_domain_alone(tmp_path: Path) -> None:
    """A head that gets worse at home says nothing of what the paper claims."""
    rows = {"raw_full": 0.14, "raw_no_cwa": 0.11, "residual_full": 0.1, "residual_no_cwa": 0.9}
    write_ablation(tmp_path, *({"row": name, "nyu_head": e, "kitti15_head": e} for name, e in rows.items()))
    with pytest.raises(NotRunError, match="residual_full on sunrgbd"):
        elsewhere.cwa(tmp_path)


def test_networks_measured_on_the_evaluation_sets_are_preferred(tmp_path: Path) -> None:
    write_ablation(tmp_path, {"row": "residual_full", "nyu_head": 0.5})
    measured = {"residual_full": {"nyu": {"abs_rel": 0.1, "seeds": 3}, "tum": {"abs_rel": 0.2}}}
    (tmp_path / "ablation--x--2026-01-01" / "evaluated.json").write_text(json.dumps({"rows": measured}))
    assert elsewhere.trained(tmp_path) == {"residual_full": {"nyu": 0.1, "tum": 0.2}}
