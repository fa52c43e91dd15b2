"""The times of Table VII: counted runs only, component by component, and their summary."""

import json
from pathlib import Path

import numpy as np
import pytest

from mrac.lab.studies import latency
from mrac.lab.studies.latency import COMPONENTS, components, readings, summary, timed


def test_the_runs_to_warm_up_are_not_counted() -> None:
    calls: list[int] = []
    assert timed(lambda: calls.append(0), 3, 5).shape == (5,)
    assert len(calls) == 8


def test_every_component_is_timed_as_often() -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)
    anchors = readings(rng.uniform(1.0, 5.0, (48, 64)))
    assert len(anchors) == 50
    times = components("cfa_ols", image, anchors, 1, 4)
    assert tuple(times) == COMPONENTS
    assert all(t.shape == (4,) and (t > 0).all() for t in times.values())
    parts = sum(float(np.median(times[name])) for name in COMPONENTS[:-1])
    assert parts < 2.0 * float(np.median(times["end_to_end"]))


def test_the_summary_is_mean_deviation_and_images_per_second() -> None:
    times = dict.fromkeys(COMPONENTS, np.array([10.0, 20.0, 30.0]))
    found = summary(times)
    assert found["head"] == {"mean_ms": pytest.approx(20.0), "std_ms": pytest.approx(10.0)}
    assert found["fps"] == pytest.approx(50.0)


def test_both_sizes_and_all_methods_are_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.zeros((48, 64, 3), np.uint8)
    monkeypatch.setattr(latency, "scene", lambda data, name, shape: (image, readings(np.ones((48, 64)))))
    fixed = dict.fromkeys(COMPONENTS, np.array([1.0, 3.0]))
    monkeypatch.setattr(latency, "components", lambda *_: fixed)
    latency.main(["--data", str(tmp_path), "--out", str(tmp_path)])
    written = json.loads((tmp_path / "latency.json").read_text())
    assert (written["warmup"], written["runs"], written["num_anchors"]) == (10, 100, 50)
    assert list(written["sizes"]) == ["480x640", "352x1216"]
    for by_method in written["sizes"].values():
        assert list(by_method) == ["mrac", "vanilla", "default"]
        assert by_method["default"]["end_to_end"]["mean_ms"] == 2.0
