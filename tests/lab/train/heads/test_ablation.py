"""The table of the ablation: a folder per row, gone on with, the same numbers in every format."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from mrac.lab.train.heads import ablation as study
from mrac.lab.train.heads import session as head_session
from mrac.lab.train.heads.ablation import run_ablation
from mrac.lab.train.heads.data import DataOptions
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.recipes import ablation
from mrac.lab.train.heads.run import train_all, train_on
from mrac.lab.train.heads.session import HeadRun
from mrac.lab.train.heads.training import HeadTraining
from tests.lab.train import tiny_heads

ROWS = (("raw_full", 2), ("residual_full", 1))


def run(out: Path, seeds: tuple[int, ...] = (0,)) -> Path:
    rows = {
        name: replace(options, num_epochs=1, batch=4, weights=replace(options.weights, fmp=0.0))
        for name, options in ablation().items()
        if name in ("raw_full", "residual_full", "residual_no_res")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "load_head_frames", lambda data, device, console: [tiny_heads.frames(12)])
        patch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
        data = DataOptions(folder=Path("nowhere"), predictor=lambda frames: [])
        return run_ablation(rows, data, HeadRun(out=out, device="cpu", hold_out=0.4), Console(quiet=True), seeds)


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


def test_seeds_are_trained_apart_and_averaged(tmp_path: Path) -> None:
    both = json.loads(run(tmp_path / "both", (0, 1)).read_text())["rows"]
    each = [json.loads(run(tmp_path / f"only{seed}", (seed,)).read_text())["rows"] for seed in (0, 1)]
    assert (tmp_path / "both" / "seed1" / "raw_full").is_dir()
    for row, *alone in zip(both, *each, strict=True):
        assert row["seeds"] == 2
        assert alone[0]["toy_head"] != alone[1]["toy_head"]
        assert row["toy_head"] == pytest.approx((alone[0]["toy_head"] + alone[1]["toy_head"]) / 2)
        assert row["toy_head_std"] == pytest.approx(abs(alone[0]["toy_head"] - alone[1]["toy_head"]) / 2**0.5)


def test_side_by_side_is_one_after_the_other(tmp_path: Path) -> None:
    both = {name: replace(ablation()[name], num_epochs=epochs, batch=4) for name, epochs in ROWS}
    both = {name: replace(options, weights=replace(options.weights, fmp=0.0)) for name, options in both.items()}

    def runs(folder: str) -> list[tuple[HeadOptions, HeadRun]]:
        outs = {name: tmp_path / folder / name for name in both}
        for out in outs.values():
            out.mkdir(parents=True)
        return [(both[name], HeadRun(out=out, device="cpu", hold_out=0.4)) for name, out in outs.items()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
        together = train_all(runs("together"), [tiny_heads.frames(12)], Console(quiet=True))
        alone = [train_on(o, [tiny_heads.frames(12)], run, Console(quiet=True)) for o, run in runs("alone")]
    for first, second in zip(together, alone, strict=True):
        mine, other = load_file(first), load_file(second)
        assert all(torch.equal(mine[name], other[name]) for name in mine)
