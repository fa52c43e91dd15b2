"""The study of the GPU path, run on the CPU; and the paper's gate in torch against the compiled one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mrac.lab.studies import gpu_paper, gpu_speed
from mrac.lab.studies.gpu_paper import theil_sen_keep
from mrac.lab.studies.gpu_speed import main
from mrac.lab.studies.gpu_targets import rows
from mrac.robust_line.theil_sen import theil_sen_mad


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(folder: Path, options: str) -> dict[str, Any]:
    main([*options.split(), *["--device", "cpu", "--runs", "1", "--warmup", "0"], "--out", str(folder)])
    found: dict[str, Any] = json.loads((folder / "gpu_speed.json").read_text(encoding="utf-8"))
    return found


def test_the_study_runs_on_a_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--shape 60x80 --batches 1 --frames 1 --precisions float32 bfloat16 --variants torch --counts 30 170"
    found = run(tmp_path, f"{options} --only default")["default"]
    for num in (30, 170):
        part = found[f"{num} readings, torch"]
        assert part["agreement_with_cpu"]["largest_relative_difference"] < 1e-4
        assert part["agreement_with_cpu"]["verdicts_equal"] == f"{num} of {num}"
        times = part["timings"]["float32"]["batch 1"]
        assert all(times[name]["mean_ms"] > 0.0 for name in ("end_to_end", "foundation", "gate_fit_kriging"))
        assert part["half_against_single"]["bfloat16"]["depth"] < 0.05
    assert "gate + fit + kriging, 170 readings" in capsys.readouterr().out


def test_the_paper_s_scheme_runs_on_a_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_paper, "_LARGE", {"hidden_size": 64, "num_attention_heads": 2})
    monkeypatch.setattr(gpu_paper, "covering_size", lambda shape, settings: (56, 70))
    found = run(tmp_path, "--only paper --paper-layers 4 --paper-batches 1 --paper-sizes 60x80")["paper"]
    cell = found["60x80 as 56x70, batch 1"]
    assert cell["eager_over_recorded"] > 0.0
    assert cell["half_against_single"] < 0.05


def test_a_part_that_fails_is_named_and_leaves_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> dict[str, Any]:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(gpu_speed, "default_on_device", fails)
    monkeypatch.setattr(gpu_speed, "paper_scheme", lambda *_: {})
    with pytest.raises(SystemExit):
        run(tmp_path, "--counts 50 --variants torch")
    assert "FAILED 50 readings, torch: RuntimeError: no such kernel" in capsys.readouterr().out
    assert json.loads((tmp_path / "gpu_speed.json").read_text(encoding="utf-8"))["errors"]


def test_the_table_has_every_figure_that_is_to_be_reached() -> None:
    times = {"end_to_end": {"mean_ms": 2.0}, "gate_fit_kriging": {"mean_ms": 1.5}}
    waits = {"host_waits": {"cudaMemcpy": 1}, "host_waits_of_the_profiler_itself": {"cudaMemcpy": 1}}
    default = {
        "timings": {"float16": {"batch 1": times, "batch 64": {"end_to_end_ms_per_frame": 0.15}}},
        "half_against_single": {"float16": {"depth": 0.001}},
        "profile": waits,
    }
    paper = {"ms_per_frame": 7.0, "eager_over_recorded": 4.0, "half_against_single": 0.001}
    cells = [f"{size}, batch {batch}" for size in ("480x640 as 518x686", "352x1216 as 350x1218") for batch in (1, 32)]
    found = rows({"default": {"50 readings": default}, "paper": dict.fromkeys(cells, paper)})
    missed = {row.what for row in found if not row.met}
    assert len(found) == 5 + 3 + 1 + 4
    assert missed == {
        "gate + fit + kriging, 50 readings, float16",
        "DAv2-L, gate, fit, head, 480x640 as 518x686, batch 32, a frame",
        "the paper's scheme in eager float32 takes longer",
    }
    assert "MISSED" in str(next(row for row in found if not row.met))


def test_a_wide_image_is_timed_at_its_own_size_as_well() -> None:
    assert gpu_paper.network_sizes((480, 640)) == [(518, 686)]
    assert gpu_paper.network_sizes((352, 1216)) == [(518, 1792), (350, 1218)]


@pytest.mark.parametrize("seed", range(3))
def test_the_paper_s_gate_keeps_what_the_compiled_one_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, (2, 31))
    z = 2.0 * x + 1.0 + rng.normal(0.0, 0.05, x.shape)
    z[:, ::4] *= 0.4
    found = theil_sen_keep(torch.from_numpy(x), torch.from_numpy(z)).numpy()
    for one, x_K, z_K in zip(found, x, z, strict=True):
        np.testing.assert_array_equal(one, theil_sen_mad(x_K, z_K, 2.0)[4])
