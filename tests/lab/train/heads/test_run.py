"""Whole trainings of a head: killed at any moment and gone on with, split by scene, exported, refused in one line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import load_file

from mrac import ContractError
from mrac.errors import MissingExtra
from mrac.lab.train.foundation.run import is_held_out
from mrac.lab.train.heads import session as head_session
from mrac.lab.train.heads.data import DataOptions, HeadFrames
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.run import train_head, train_on
from mrac.lab.train.heads.session import HeadRun
from mrac.lab.train.heads.training import HeadTraining
from mrac.types import RelativeDepth
from tests.lab.train import tiny, tiny_heads

ROOT = Path(__file__).parents[4]
OPTIONS = tiny_heads.options(3)
NUM_STEPS = 5  # three epochs of six frames, four at a time

# Tells every step, so that whoever watches knows when to strike.
KILLED = """
import sys
from pathlib import Path
import torch
from mrac.lab.train.heads.training import HeadTraining
from tests.lab.train.heads import test_run
torch.set_num_threads(1)
advance = HeadTraining.advance
def told(self):
    advance(self)
    print(self.step, flush=True)
HeadTraining.advance = told
print("ready", flush=True)
test_run.train(Path(sys.argv[1]))
print("done", flush=True)
"""


def train(out: Path, options: HeadOptions = OPTIONS, num: int = 6, export: bool = False, **changes: Any) -> Path:
    """A training that saves its state at every step; without the export, unless asked for, which takes long."""
    run = HeadRun(**{"out": out, "device": "cpu", "hold_out": 0.0, "score_every": 2, "save_seconds": 0.0, **changes})
    out.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, Path(os.devnull).open("w") as nowhere:
        if not export:
            patch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
        return train_on(options, [tiny_heads.frames(num)], run, Console(file=nowhere))


def weights(path: Path) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in load_file(path).items()}


def about(path: Path) -> dict[str, str]:
    with safe_open(path, framework="pt") as file:
        words: dict[str, str] = file.metadata()
    return words


def log(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def names(out: Path) -> set[str]:
    return {p.name for p in out.iterdir()}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    train(out)
    return out


def test_a_run_leaves_its_state_its_log_its_curves_and_its_networks(uninterrupted: Path) -> None:
    files = {"state.safetensors", "log.jsonl", "last.safetensors", "vanilla.safetensors", "tensorboard"}
    assert names(uninterrupted) == files
    assert [(line["epoch"], line["step"]) for line in log(uninterrupted)] == [(1, 2), (2, 3), (3, 5)]
    assert all(set(line["loss"]) == {"total", "silog", "cwa", "ssc"} for line in log(uninterrupted))
    words = about(uninterrupted / "vanilla.safetensors")
    assert (words["step"], words["epoch"], words["recipe"]) == ("5", "3", "vanilla")
    assert json.loads(words["options"])["batch"] == 4
    assert len(json.loads(words["data"])["trained"]["toy"]) == 64
    assert words["mrac.kind"] == "residual"
    assert words["mrac.form"] == "metres"
    assert words["mrac.space"] == "depth"
    assert list((uninterrupted / "tensorboard").iterdir())


@pytest.mark.parametrize("seed", range(3))
def test_a_run_killed_at_any_moment_goes_on_as_if_nothing_had_happened(
    seed: int, uninterrupted: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        fatal, began = str(rng.integers(1, NUM_STEPS + 1)), time.monotonic()
        for line in process.stdout:
            if line.strip() == fatal:
                break
            began = time.monotonic()
        # Somewhere in what follows the step: a save, an epoch's end, the next step.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=rng.uniform(0, time.monotonic() - began))
        process.send_signal(signal.SIGKILL)
    train(tmp_path)
    for name in ("state.safetensors", "last.safetensors", "vanilla.safetensors"):
        assert weights(tmp_path / name) == weights(uninterrupted / name), name
    assert about(tmp_path / "state.safetensors") == about(uninterrupted / "state.safetensors")
    assert log(tmp_path) == log(uninterrupted)
    assert names(tmp_path) == names(uninterrupted)


def test_half_a_state_is_never_seen(tmp_path: Path) -> None:
    """Killed within the write itself: what was there before still is, and the run goes on from it."""
    program = KILLED.replace(
        "print(\"ready\"", "from mrac.lab.train.foundation import checkpoint\nimport os, signal\n"
        "whole = checkpoint.write_whole\n"
        "def write(path, fill):\n"
        "    def half(file):\n"
        "        file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    whole(path, half if path.name == 'state.safetensors' and path.exists() else fill)\n"
        "checkpoint.write_whole = write\nprint(\"ready\"",
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert json.loads(about(tmp_path / "state.safetensors")["state"])["step"] == 1
    assert any(name.startswith(".state") for name in names(tmp_path))
    train(tmp_path)
    assert not any(name.startswith(".") for name in names(tmp_path))


def test_a_finished_run_only_writes_its_network_again(uninterrupted: Path) -> None:
    shipped = uninterrupted / "vanilla.safetensors"
    before, lines = (weights(shipped), about(shipped)), log(uninterrupted)
    shipped.unlink()
    train(uninterrupted)
    assert (weights(shipped), about(shipped)) == before
    assert log(uninterrupted) == lines


@pytest.mark.parametrize(
    ("options", "num", "says"),
    [
        (replace(OPTIONS, seed=3), 6, r"other options \(seed\)"),
        (replace(OPTIONS, form="scale_free", dropout_rate_max=0.4), 6, r"other options \(dropout_rate_max, form\)"),
        (OPTIONS, 5, r"other data \(toy\)"),
    ],
)
def test_another_run_is_named(options: HeadOptions, num: int, says: str, uninterrupted: Path) -> None:
    with pytest.raises(ContractError, match=says):
        train(uninterrupted, options, num)


def test_a_damaged_state_is_one_line(uninterrupted: Path, tmp_path: Path) -> None:
    content = (uninterrupted / "state.safetensors").read_bytes()
    (tmp_path / "state.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(ContractError, match="cannot be read"):
        train(tmp_path)


def test_what_is_held_out_is_measured_and_never_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: set[str] = set()
    advance = HeadTraining.advance

    def spy(self: HeadTraining) -> None:
        trained.update(scene for frames in self.task.sets for scene in frames.frames.scenes)  # type: ignore[attr-defined]
        advance(self)

    monkeypatch.setattr(HeadTraining, "advance", spy)
    train(tmp_path, num=12, hold_out=0.4)
    held = {f"toy/{i}" for i in range(12) if is_held_out(f"toy/{i}", 0.4)}
    assert 0 < len(held) < 12
    assert trained == {f"toy/{i}" for i in range(12)} - held
    lines = log(tmp_path)
    assert [bool(line["abs_rel"]) for line in lines] == [False, True, True], "every second epoch, and the last"
    assert set(lines[-1]["abs_rel"]["toy"]) == {"head", "affine"}
    best = min(line["abs_rel"]["toy"]["head"] for line in lines[1:])
    stated = json.loads(about(tmp_path / "best.safetensors")["abs_rel"])["toy"]["head"]
    assert stated == pytest.approx(best, abs=1e-5)


def test_holding_out_everything_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="leaves none to train on"):
        train(tmp_path, hold_out=0.9999)


def test_without_what_exports_the_weights_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: Path, onnx_path: Path) -> None:
        raise MissingExtra("exporting a network", "train")

    monkeypatch.setattr(head_session, "export_checkpoint", missing)
    with (tmp_path / "shown").open("w") as shown:
        run = HeadRun(out=tmp_path, device="cpu", hold_out=0.0)
        last = train_on(tiny_heads.options(1), [tiny_heads.frames()], run, Console(file=shown, width=500))
    assert last.is_file()
    assert f"mrac train export {last}" in (tmp_path / "shown").read_text()


def test_without_tensorboard_it_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
    with (tmp_path / "shown").open("w") as shown:
        run = HeadRun(out=tmp_path, device="cpu", hold_out=0.0)
        train_on(tiny_heads.options(2), [tiny_heads.frames()], run, Console(file=shown, width=500))
    assert (tmp_path / "shown").read_text().count("pip install tensorboard") == 1
    assert not (tmp_path / "tensorboard").exists()


def test_a_folder_that_cannot_be_is_said_before_the_work(tmp_path: Path) -> None:
    def never(frames: Any) -> Any:
        raise AssertionError

    (tmp_path / "file").write_text("")
    data = DataOptions(folder=tmp_path / "no pack is looked for", predictor=never)
    with pytest.raises(ContractError, match="cannot be a folder"):
        train_head(OPTIONS, data, HeadRun(out=tmp_path / "file", device="cpu"), Console(quiet=True))


def test_sets_of_two_sizes_train_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
    sets: list[HeadFrames] = [tiny_heads.frames(5), tiny_heads.frames(4, "wide", (32, 96))]
    run = HeadRun(out=tmp_path, device="cpu", hold_out=0.0)
    last = train_on(tiny_heads.options(1), sets, run, Console(quiet=True))
    assert set(json.loads(about(last)["data"])["trained"]) == {"toy", "wide"}
    assert all(bool(torch.isfinite(value).all()) for value in load_file(last).values())


def test_what_ships_is_what_was_rounded_for_it(uninterrupted: Path) -> None:
    last, shipped = (load_file(uninterrupted / f"{name}.safetensors") for name in ("last", "vanilla"))
    differing = {name for name in last if not torch.equal(last[name], shipped[name])}
    assert differing, "no weight is large enough to be shortened: nothing was tried"
    assert all(float((last[n] - shipped[n]).abs().max()) < 1e-4 * float(last[n].abs().max()) for n in differing)


def test_the_pack_of_the_foundation_trains_a_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
    pack = tiny.write_pack(tmp_path / "pack")
    data = DataOptions(folder=pack, predictor=lambda frames: enumerate(_true(frames)))
    train_head(tiny_heads.options(1), data, HeadRun(out=tmp_path / "out", device="cpu"), Console(quiet=True))
    assert "vanilla.safetensors" in names(tmp_path / "out")


def _true(frames: Any) -> list[Any]:
    return [RelativeDepth(z.numpy(), "depth") for z in frames.z_m]
