"""The study of the GPU path, run on the CPU; and the paper's gate in torch against the compiled one."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mrac.lab.studies.gpu_paper import theil_sen_keep
from mrac.lab.studies.gpu_speed import main
from mrac.robust_line.theil_sen import theil_sen_mad


def test_the_study_runs_on_a_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    options = (
        "--device cpu --shape 60x80 --batches 1 --runs 1 --warmup 0 --frames 1 --precisions float32 --only default"
    )
    main([*options.split(), "--only", "default", "--out", str(tmp_path)])
    torch.set_num_threads(before)
    found = json.loads((tmp_path / "gpu_speed.json").read_text(encoding="utf-8"))["default"]
    assert found["agreement_with_cpu"]["largest_relative_difference"] < 1e-4
    assert found["agreement_with_cpu"]["verdicts_equal"] == "50 of 50"
    times = found["timings"]["float32"]["batch 1"]
    assert times["end_to_end"]["mean_ms"] > times["foundation"]["mean_ms"] > 0.0
    assert "verdicts_equal" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(3))
def test_the_paper_s_gate_keeps_what_the_compiled_one_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, (2, 31))
    z = 2.0 * x + 1.0 + rng.normal(0.0, 0.05, x.shape)
    z[:, ::4] *= 0.4
    found = theil_sen_keep(torch.from_numpy(x), torch.from_numpy(z)).numpy()
    for one, x_K, z_K in zip(found, x, z, strict=True):
        np.testing.assert_array_equal(one, theil_sen_mad(x_K, z_K, 2.0)[4])
