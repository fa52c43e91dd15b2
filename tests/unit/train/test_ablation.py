"""The table of the ablation: a folder per row, gone on with, the same numbers in every format."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from mrac.train import ablation as study
from mrac.train import head_run
from mrac.train.ablation import run_ablation
from mrac.train.head_data import DataOptions
from mrac.train.head_run import HeadRun
from mrac.train.head_training import HeadTraining
from mrac.train.recipes import ablation
from tests.unit.train import tiny_heads


def run(out: Path) -> Path:
    rows = {
        name: replace(options, num_epochs=1, batch=4, weights=replace(options.weights, fmp=0.0))
        for name, options in ablation().items()
        if name in ("raw_full", "residual_full", "residual_no_res")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "load_head_frames", lambda data, device, console: [tiny_heads.frames(12)])
        patch.setattr(head_run, "export_checkpoint", lambda path, onnx_path: None)
        data = DataOptions(folder=Path("nowhere"), predictor=lambda frames: [])
        return run_ablation(rows, data, HeadRun(out=out, device="cpu", hold_out=0.4), Console(quiet=True))


def test_a_row_per_recipe_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = json.loads(run(tmp_path).read_text())["rows"]
    assert [row["row"] for row in table] == ["raw_full", "residual_full", "residual_no_res"]
    assert [row["paper_nyu"] for row in table] == [0.143, 0.096, 0.084]
    assert all(0 < row["toy_head"] < 10 for row in table)
    assert len({row["toy_affine"] for row in table}) == 1, "all rows are measured with the same anchors"
    with (tmp_path / "ablation.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["toy_head"]) for row in rows] == [row["toy_head"] for row in table]
    assert (tmp_path / "ablation.md").read_text().count("| residual_") == 2

    def never(self: HeadTraining) -> None:
        raise AssertionError("a finished row was trained again")

    monkeypatch.setattr(HeadTraining, "advance", never)
    assert json.loads(run(tmp_path).read_text())["rows"] == table
