"""Whole runs on a tiny pack: killed and gone on with, as long as was asked for, refused in one line."""

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from mrac.errors import ContractError
from mrac.foundation.embedded import NETWORK
from mrac.lab.train.foundation.checkpoint import write_tensors
from mrac.lab.train.frames import Frames
from mrac.lab.train.small_network import SmallNetwork
from mrac.lab.train.student import run as recipe
from mrac.lab.train.student.run import RunOptions, train_student
from mrac.lab.train.student.training import StudentOptions, StudentTraining
from mrac.runtime.weight_files import WEIGHTS
from tests.lab.train import tiny
from tests.lab.train.student import small

ROOT = Path(__file__).parents[4]
OPTIONS = small.options()

KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from mrac.lab.train.foundation import checkpoint
from tests.lab.train.student import test_run
torch.set_num_threads(1)
whole = checkpoint.write_whole
def write(path, fill):
    whole(path, fill)
    os.kill(os.getpid(), signal.SIGKILL)
checkpoint.write_whole = write
test_run.train(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def train(data: Path, out: Path, options: StudentOptions = OPTIONS, **changes: object) -> dict[str, bytes]:
    """A run that saves every second step, without the export; the weights that would be exported."""
    exported: dict[str, bytes] = {}

    def keep(network: SmallNetwork, path: Path) -> None:
        assert path == out / "student.onnx"
        exported.update({name: value.numpy().tobytes() for name, value in network.state_dict().items()})

    run = replace(RunOptions((data,), out, device="cpu", save_every=2), **changes)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "export_foundation", keep)
        train_student(options, run, Console(file=io.StringIO()))
    return exported


def log(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture(scope="module")
def whole(pack: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    out = tmp_path_factory.mktemp("whole")
    return out, train(pack, out)


def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    pack: Path, whole: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, pack, tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert [line["step"] for line in log(tmp_path)] == [2]
    out, weights = whole
    assert train(pack, tmp_path) == weights
    assert (tmp_path / "state.safetensors").read_bytes() == (out / "state.safetensors").read_bytes()
    assert log(tmp_path) == log(out)


def test_a_finished_run_gives_the_same_network_again(pack: Path, whole: tuple[Path, dict[str, bytes]]) -> None:
    out, weights = whole
    assert train(pack, out) == weights
    lines = log(out)
    assert [line["step"] for line in lines] == [2, 4]
    assert all(line.keys() == {"step", "loss", "distance"} for line in lines)
    assert all(isinstance(line["distance"], dict) and line["distance"].keys() == {"toy"} for line in lines)
    averaged = load_file(out / "state.safetensors")["averaged.out.weight"]
    assert averaged.numpy().tobytes() == weights["out.weight"]  # too small to be shortened
    assert (averaged != load_file(out / "state.safetensors")["network.out.weight"]).any()


def test_a_run_of_other_options_or_another_teacher_is_refused(
    pack: Path, whole: tuple[Path, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ContractError, match=r"other options \(batch, seed\)"):
        train(pack, whole[0], replace(OPTIONS, seed=1, batch=1))
    other = tmp_path / "other.onnx"
    other.write_bytes(NETWORK.read_bytes() + b"\x32\x00")  # an empty domain name: the same network in other bytes
    with pytest.raises(ContractError, match=r"other options \(taught_by\)"):
        train(pack, whole[0], teacher=other)


def test_a_state_of_another_training_is_refused(pack: Path, tmp_path: Path) -> None:
    about = {"step": 2, "scaler": {}, "options": {"phases": []}, "frames": {}}
    write_tensors(tmp_path / "state.safetensors", {"network.x": torch.zeros(1)}, {"state": json.dumps(about)})
    with pytest.raises(ContractError, match=r"other options \(.*phases"):
        train(pack, tmp_path)


def test_a_pack_without_frames_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("set,id,scene,rgb,depth,depth_scale,depth_offset\n")
    with pytest.raises(ContractError, match="list no frame; at least one set is needed"):
        train(tmp_path, tmp_path / "run")


def test_rendered_scenes_are_learned_from_as_well(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "_SCENE_SIZE", (48, 64))
    seen: list[str] = []
    start = StudentTraining.__init__

    def spy(self: StudentTraining, options: StudentOptions, teacher: object, sets: list[Frames]) -> None:
        seen.extend(frames.set_name for frames in sets)
        start(self, options, teacher, sets)  # type: ignore[arg-type]

    monkeypatch.setattr(StudentTraining, "__init__", spy)
    train(pack, tmp_path, small.options(1, num_scenes=2, shares={"scenes": 1e6}))
    assert seen == ["toy", "scenes"]
    assert [line["step"] for line in log(tmp_path)] == [1]


def test_a_teacher_that_is_missing_or_no_teacher_is_one_line(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such file"):
        train(pack, tmp_path / "run", teacher=tmp_path / "missing.onnx")
    with pytest.raises(ContractError, match=r"b_prime\.onnx does not hold this network's weights"):
        train(pack, tmp_path / "run", teacher=WEIGHTS / "b_prime.onnx")
    assert not (tmp_path / "run").exists()
