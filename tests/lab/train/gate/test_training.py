"""The training of the learned gate, from made-up frames to a file that the gate can read."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from rich.console import Console

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.gate.consensus.classifier import Classifier
from mrac.gp.kernel import NUM_FEATURES
from mrac.lab.cli.train import train_command
from mrac.lab.data.manifest import Frame
from mrac.lab.train.frames import Frames
from mrac.lab.train.gate import draw_places, draw_scenes
from mrac.lab.train.gate import frames as gate_frames
from mrac.lab.train.gate.depth_loss import Target
from mrac.lab.train.gate.draw_scenes import GateScene, ScenePlan, scenes
from mrac.lab.train.gate.frames import GateData
from mrac.lab.train.gate.scene_store import SceneStore
from mrac.lab.train.gate.training import ScoreOptions, fit, train_scores
from mrac.types import RelativeDepth
from tests.lab.train import tiny
from tests.lab.train.gate.made_frame import frame, ramp

QUIET = Console(quiet=True)
SMALL = ScenePlan(per_set=8, upside_down=4, most=(2, 1), turned=4)


@dataclass(frozen=True)
class Dim:
    """In place of the networks: near is bright."""

    files: tuple[Path, ...]

    def __call__(self, frames: Frames) -> Iterator[tuple[int, RelativeDepth]]:
        for i in reversed(range(len(frames))):
            yield i, RelativeDepth(-np.log(frames.images[i].float().mean(dim=0).numpy() + 1.0), "log_depth")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GateData:
    monkeypatch.setattr(gate_frames, "OutOfFold", Dim)
    return GateData(folders=(tiny.write_pack(tmp_path / "pack", 4),), networks=(Path("unread"),))


def flat_target(wrong: BoolArray, rng: np.random.Generator) -> Target:
    """A wall, two metres away, of which wrong readings say that it is at one; pixels look like the readings do."""
    K, x = wrong.size, np.zeros(wrong.size, np.float32)
    places = rng.random((K + 8, NUM_FEATURES)).astype(np.float32)
    log_z = np.log(np.where(wrong, 1.0, 2.0)).astype(np.float32)
    truth = np.full(8, np.log(2.0), np.float32)
    return Target(places[:K], x, log_z, places[K:], np.zeros(8, np.float32), truth)


def separable(num: int, seed: int) -> list[GateScene]:
    """Wrong is what stands out among the readings of its own scene: nothing that one reading tells alone."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(num):
        level, K = rng.normal(), int(rng.integers(4, 30))
        wrong = rng.random(K) < 0.3
        inputs = np.stack([level + 3.0 * wrong + 0.1 * rng.normal(size=K), rng.normal(size=K)], axis=1)
        target = flat_target(wrong, rng)
        made.append(GateScene(inputs.astype(np.float32), wrong.astype(np.float32), ("a", "b"), target))
    return made


def test_it_learns_what_only_the_scene_can_tell(tmp_path: Path) -> None:
    options = ScoreOptions(num_epochs=20, batch=16)
    network, mean, std = fit(separable(400, 0), options, tmp_path, QUIET)
    hits: list[float] = []
    trust: dict[bool, list[float]] = {True: [], False: []}
    with torch.no_grad():
        for scene in separable(50, 1):
            told = (torch.from_numpy(scene.inputs) - mean) / std
            odds = network(told.clamp(-4, 4)[None], torch.ones(1, len(told)))[0].numpy()
            hits.append(float(((odds[:, 0] > 0) == (scene.wrong > 0.5)).mean()))
            for wrong in (True, False):
                trust[wrong] += odds[(scene.wrong > 0.5) == wrong, 1].tolist()
    assert np.mean(hits) > 0.9
    assert np.median(trust[True]) < -1.0 < 1.0 < np.median(trust[False])
    assert '"epoch": 20' in (tmp_path / "log.jsonl").read_text()


def test_the_file_says_what_the_network_said(data: GateData, tmp_path: Path) -> None:
    options = ScoreOptions(num_epochs=2, batch=4, plan=SMALL)
    file = train_scores(options, data, tmp_path / "run", QUIET)
    again = train_scores(options, data, tmp_path / "again", QUIET)
    assert file.read_bytes() == again.read_bytes()
    assert file.stat().st_size < 120_000
    found = scenes(frame(), 3, [0])
    scorer = Classifier.load(file)
    network, mean, std = fit(found, replace(options, num_epochs=1), tmp_path, QUIET)
    from mrac.lab.train.gate.training import _arrays  # noqa: PLC0415

    np.savez(tmp_path / "own.npz", **_arrays(network, mean, std, found[0].names))
    own = Classifier.load(tmp_path / "own.npz")
    named = dict(zip(found[0].names, found[0].inputs.T.astype(np.float64), strict=True))
    with torch.no_grad():
        told = ((torch.from_numpy(found[0].inputs) - mean) / std).clamp(-4, 4)
        wanted = network(told[None], torch.ones(1, len(told)))[0].numpy()
    np.testing.assert_allclose(np.stack(own(named), axis=1), wanted, atol=1e-4)
    assert np.isfinite(scorer(named)).all()


def test_what_a_killed_run_left_is_gone_and_its_log_begins_anew(data: GateData, tmp_path: Path) -> None:
    options = ScoreOptions(num_epochs=2, batch=4, plan=SMALL)
    train_scores(options, data, tmp_path, QUIET)
    files, log = sorted(p.name for p in tmp_path.rglob("*") if p.is_file()), (tmp_path / "log.jsonl").read_text()
    (tmp_path / "consensus_learned.npz").replace(tmp_path / ".consensus_learned.npz.0a1b2c3d")
    (tmp_path / "scenes" / ".toy.npz.0a1b2c3d").write_bytes(b"half")
    train_scores(options, data, tmp_path, QUIET)
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == files
    assert (tmp_path / "log.jsonl").read_text() == log


def test_scenes_that_are_there_are_not_drawn_again(
    data: GateData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = list(SceneStore(data, SMALL, 0, tmp_path).all_scenes(1, QUIET))
    files = sorted((tmp_path / "scenes").iterdir())
    assert [file.name for file in files] == ["toy-upside-down.npz", "toy.npz"]
    with monkeypatch.context() as without:
        without.delattr(gate_frames, "OutOfFold")  # nothing could be drawn
        again = list(SceneStore(data, SMALL, 0, tmp_path).all_scenes(1, QUIET))
    assert len(again) == len(first) > 0
    for one, other in zip(first, again, strict=True):
        assert one.names == other.names
        for a, b in zip((*one[:2], *one.target), (*other[:2], *other.target), strict=True):
            np.testing.assert_array_equal(a, b)
    times = [file.stat().st_mtime_ns for file in files]
    list(SceneStore(data, SMALL, 1, tmp_path).all_scenes(1, QUIET))  # another seed: other scenes
    assert all(file.stat().st_mtime_ns > time for file, time in zip(files, times, strict=True))


def test_workers_end_with_the_one_who_started_them() -> None:
    """Killed, it can tell nobody: without a watch of their own they wait for the next scene for ever."""
    program = (
        "import os\n"
        "from mrac.lab.train.gate.scene_store import _pool\n"
        "if __name__ == '__main__':\n"
        "    print(_pool(2).submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    # Whoever has the pipe open is alive: it ends with the last of them.
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.strip().isdigit()


def test_scenes_of_other_packs_are_drawn_again(data: GateData, tmp_path: Path) -> None:
    """One more pack may hold more frames of a set whose scenes are there already."""
    plan = replace(SMALL, per_set=2, upside_down=1, turned=1)
    limited = replace(data, limit=1)
    list(SceneStore(limited, plan, 0, tmp_path).all_scenes(1, QUIET))
    file = tmp_path / "scenes" / "toy.npz"
    before = file.stat().st_mtime_ns
    list(SceneStore(limited, plan, 0, tmp_path).all_scenes(1, QUIET))
    assert file.stat().st_mtime_ns == before
    walk = tiny.write_pack(tmp_path / "walk", 1, set_name="hololens")
    both = replace(limited, folders=(*data.folders, walk))
    list(SceneStore(both, plan, 0, tmp_path).all_scenes(1, QUIET))
    assert file.stat().st_mtime_ns > before
    assert json.loads(str(np.load(file)["made_for"]))[3] == ["pack", "walk"]
    assert (tmp_path / "scenes" / "hololens.npz").is_file()


def test_scenes_are_told_of_every_reading() -> None:
    for scene in scenes(frame(scan=True), 12, [1]):
        assert scene.inputs.shape == (scene.wrong.size, len(scene.names))
        assert np.isfinite(scene.inputs).all()
        assert set(np.unique(scene.wrong)) <= {0.0, 1.0}
        assert all(np.isfinite(part).all() for part in scene.target)
        assert len(scene.target.features) == scene.wrong.size


def test_where_the_readings_contradict_the_network_there_is_nothing_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_scenes, "_count", lambda rng: 80)
    monkeypatch.setattr(draw_places, "_WHOLE", 1.0)  # in one row, noise may pass
    made = ramp()
    noise = np.random.default_rng(0).normal(size=made.field.shape).astype(np.float32)
    assert len(scenes(made, 6, [2])) >= 4
    assert not scenes(replace(made, field=noise), 6, [2])


def test_small_sets_are_drawn_from_more_often() -> None:
    plan = ScenePlan()
    assert plan.num_each(795, False) < plan.num_each(41, False) <= plan.most[0]
    assert plan.num_each(0, True) == plan.most[1]


def fields(data: GateData, upside_down: bool) -> dict[int, FloatArray]:
    frames: list[Frame] = data.sets()["toy"]
    return {i: read.field for i, read in data.read(frames, upside_down)}


def test_frames_come_with_their_own_field_the_right_way_up(data: GateData) -> None:
    upright, turned = fields(data, False), fields(data, True)
    assert sorted(upright) == [0, 1, 2, 3]
    for i, field in upright.items():
        np.testing.assert_allclose(turned[i], field, atol=1e-5)
        image = data.sets()["toy"][i].image()
        np.testing.assert_allclose(field, -np.log(image.mean(axis=2) + 1.0), atol=1e-5)


def test_a_pack_without_truth_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("set,id,rgb\na,1,a.png\n")
    with pytest.raises(ContractError, match="depth"):
        GateData(folders=(tmp_path,), networks=()).sets()


def test_the_command(data: GateData, tmp_path: Path) -> None:
    out, walk = tmp_path / "out", tiny.write_pack(tmp_path / "walk", 2, set_name="hololens")
    given = ["gate", "--data", str(data.folders[0]), "--data", str(walk), "--out", str(out), "--out-of-fold", "unread"]
    result = CliRunner().invoke(
        train_command, [*given, "--epochs", "1", "--scenes", "4", "--limit", "2", "--workers", "2"]
    )
    assert result.exit_code == 0, result.output
    assert "consensus_learned.npz" in result.output
    Classifier.load(out / "consensus_learned.npz")
    assert {file.stem for file in (out / "scenes").iterdir()} >= {"toy", "hololens"}
