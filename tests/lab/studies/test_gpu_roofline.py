"""The floors of the GPU path, counted without a GPU."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from mrac.lab.studies import gpu_roofline
from mrac.lab.studies.gpu_roofline import BYTES_PER_S, FLOPS_PER_S, Floor, floor_of


def test_a_convolution_s_operations_and_bytes() -> None:
    network = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.ReLU()).to("meta")
    floor = floor_of(network, torch.zeros(2, 3, 10, 12, device="meta"))
    assert floor.flops == 2 * (2 * 10 * 12 * 8 * 3 * 9)  # a product and a sum
    assert floor.bytes == 2 * (2 * 10 * 12 * (3 + 8) + 8 * 3 * 9)


def test_the_floor_is_the_longer_of_both() -> None:
    assert Floor(FLOPS_PER_S, 0.5 * BYTES_PER_S).ms == 1e3
    assert Floor(0.5 * FLOPS_PER_S, 2.0 * BYTES_PER_S).ms == 2e3


def test_the_table_has_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    floor = Floor(FLOPS_PER_S * 1e-3, 0.0)
    of_parts = {("default", "batch 1"): floor, ("default", "batch 64"): floor, ("paper", "60x80, batch 1"): floor}
    monkeypatch.setattr(gpu_roofline, "floors", lambda: of_parts)
    timings = {"float16": {"batch 1": {"foundation": {"mean_ms": 2.5}}}}
    paper = {"60x80, batch 1": {"half, recorded, foundation alone": {"mean_ms": 4.0}}}
    file = tmp_path / "gpu_speed.json"
    file.write_text(json.dumps({"default": {"50 readings": {"timings": timings}}, "paper": paper}), encoding="utf-8")
    gpu_roofline.main([str(file)])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split(" | ")[-1] for row in rows] == ["2.5 |", "4.0 |"]
