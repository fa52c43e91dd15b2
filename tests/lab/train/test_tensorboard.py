"""Curves: what is written can be read by TensorBoard itself, and a run that goes on hides what it will do again."""

from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from mrac.lab.train.tensorboard import Curves


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder)).Reload()
    return {tag: [(e.step, round(e.value, 4)) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_losses_speed_and_scores_by_epoch(tmp_path: Path) -> None:
    with closing(Curves(tmp_path, 0, Console(quiet=True))) as curves:
        curves.add(1, {"total": 0.5, "images_per_s": 30.0}, {})
        curves.add(2, {"total": 0.25, "images_per_s": 31.0}, {"nyu": {"head": 0.1, "affine": 0.2}})
    assert scalars(tmp_path) == {
        "loss/total": [(1, 0.5), (2, 0.25)],
        "images_per_s": [(1, 30.0), (2, 31.0)],
        "abs_rel/nyu/head": [(2, 0.1)],
        "abs_rel/nyu/affine": [(2, 0.2)],
    }


def test_a_run_that_goes_on_hides_what_it_does_again(tmp_path: Path) -> None:
    with closing(Curves(tmp_path, 0, Console(quiet=True))) as curves:
        for epoch in (1, 2, 3):
            curves.add(epoch, {"total": 0.5}, {})
    with closing(Curves(tmp_path, 1, Console(quiet=True))) as curves:  # its last state was of the first epoch
        curves.add(2, {"total": 0.125}, {})
    assert scalars(tmp_path)["loss/total"] == [(1, 0.5), (2, 0.125)]


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # without a folder, TensorBoard's own writer would make `runs/` here
    shown = StringIO()
    with closing(Curves(None, 0, Console(file=shown))) as curves:
        curves.add(1, {"total": 0.5}, {"nyu": {"head": 0.1}})
    assert list(tmp_path.iterdir()) == []
    assert shown.getvalue() == ""
