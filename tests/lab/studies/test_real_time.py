"""Methods timed in turns, each in its own process; growth in the number of readings beside K log K."""

import json
from pathlib import Path

import pytest

from mrac.lab.studies import growth, real_time, stream_rate


def test_times_and_memory_of_every_method(tmp_path: Path) -> None:
    checkout = Path(__file__).parents[3]
    words = ["--methods", "cfa_ols", "nearest", "--before", str(checkout), "--rounds", "2", "--calls", "1"]
    real_time.main([*words, "--out", str(tmp_path)])
    found = json.loads((tmp_path / "real_time.json").read_text(encoding="utf-8"))["methods"]
    assert list(found) == [real_time.BEFORE, "cfa_ols", "nearest"]
    assert found[real_time.BEFORE]["times_faster_wall"] == 1.0
    assert found["nearest"]["processor_ms"] < found[real_time.BEFORE]["processor_ms"]  # no network, no gate
    assert all(row["least_wall_ms"] <= row["wall_ms"] and row["peak_mb"] > 50.0 for row in found.values())
    assert not (tmp_path / "scene.npz").exists()


def test_a_process_that_does_not_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="nope"):
        real_time.main(["--methods", "nope", "--rounds", "1", "--out", str(tmp_path)])


def test_faster_growth_than_k_log_k_is_noticed() -> None:
    linear = growth.steps([100, 500, 1000, 2000], [1.0, 1.0, 2.0, 4.0])
    assert [(step["from"], step["holds"]) for step in linear] == [(500, True), (1000, True)]
    assert [step["holds"] for step in growth.steps([500, 1000, 2000], [1.0, 4.0, 16.0])] == [False, False]


def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    growth.main(["--methods", "cfa_ols", "--counts", "50", "500", "1000", "--runs", "1", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))
    assert len(found["processor_seconds"]["cfa_ols"]) == 3
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_frames_per_second_of_a_stream_and_of_single_calls(tmp_path: Path) -> None:
    stream_rate.main(["--methods", "cfa_ols", "--frames", "2", "--rounds", "2", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "stream_rate.json").read_text(encoding="utf-8"))["rates"]
    assert {"cfa_ols, single calls", "cfa_ols, 1 workers"} <= set(found)
    assert all(0.0 < row["median_hz"] <= row["best_hz"] for row in found.values())
