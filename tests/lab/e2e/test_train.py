"""`mrac train foundation` as a person uses it, with a recipe small enough for a test."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from mrac import cli
from mrac.foundation.embedded import Embedded
from mrac.lab.train.folds import fold_of
from mrac.lab.train.foundation import run as recipe
from mrac.lab.train.foundation.recipe import FoundationOptions
from mrac.lab.train.foundation.training import FoundationTraining
from mrac.lab.train.frames import Frames
from tests.e2e.test_cli import mrac
from tests.lab.train import tiny


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return tiny.write_pack(tmp_path / "pack")


def run(*words: str | Path) -> int:
    """The command in this process, where the recipe can be made small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["mrac", *map(str, words)])
        with pytest.raises(SystemExit) as exited:
            cli.main()
    return int(exited.value.code or 0)


def small(**changes: object) -> FoundationOptions:
    """The recipe's stand-in: four steps, the network as it ships."""
    return replace(tiny.options(4), **changes)  # type: ignore[arg-type]


def test_from_a_folder_of_frames_to_a_network_that_calibrates(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mrac.lab.train.foundation.recipe.FoundationOptions", small)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    command = ("train", "foundation", "--data", pack, "--out", tmp_path / "run", "--device", "cpu", "--seed", 3)
    code = run(*map(str, command), "--hold-out", "0.5", "--steps", "0.5", "--scenes", "0")
    torch.set_num_threads(num_threads)
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert re.search(r"run/embedded\.onnx: 11\.\d MB$", shown.out.strip())
    assert {p.name for p in (tmp_path / "run").iterdir()} == {
        "state.safetensors",
        "log.jsonl",
        "embedded.safetensors",
        "embedded.onnx",
    }
    (line,) = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert line["step"] == 2
    assert 0 < line["abs_rel"]["toy"] < 10

    image = np.asarray(Image.open(pack / "0.png"))
    relative = Embedded(str(tmp_path / "run" / "embedded.onnx"))(image)
    assert relative.values.shape == image.shape[:2]
    (tmp_path / "a.csv").write_text("u,v,z\n" + "".join(f"{9 * i},{6 * i},{5 - 0.4 * i}\n" for i in range(10)))
    done = mrac(
        "calibrate", pack / "0.png", "--anchors", tmp_path / "a.csv", "--out", tmp_path / "result",
        "--foundation", f"embedded:{tmp_path / 'run' / 'embedded.onnx'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    # The same folder with another seed is another run.
    assert run("train", "foundation", "--data", pack, "--out", tmp_path / "run", "--scenes", "0") == 2
    assert "other options (phases, seed, warmup)" in " ".join(capsys.readouterr().err.split())


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[str]]]:
    """Two packs, `pack` (toy, room_0 to 5) and `walk` (hololens, room_0 to 2); gives what a run trains on, by set.

    The recipe is two steps of a narrow network, without the published encoder and the export, which are tested above.
    """
    tiny.write_pack(tmp_path / "pack")
    tiny.write_pack(tmp_path / "walk", 3, set_name="hololens")
    trained: dict[str, list[str]] = {}
    start = FoundationTraining.__init__

    def spy(self: FoundationTraining, options: FoundationOptions, sets: list[Frames], *rest: None) -> None:
        trained.update({frames.set_name: list(frames.scenes) for frames in sets})
        start(self, options, sets, *rest)

    def narrow(**changes: object) -> FoundationOptions:
        return replace(tiny.narrow(2), **changes)  # type: ignore[arg-type]

    monkeypatch.setattr("mrac.lab.train.foundation.recipe.FoundationOptions", narrow)
    monkeypatch.setattr(FoundationTraining, "__init__", spy)
    monkeypatch.setattr(recipe, "published_encoder", lambda variant: None)
    monkeypatch.setattr(recipe, "export_foundation", lambda network, path: path.write_bytes(b"a network"))
    monkeypatch.chdir(tmp_path)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield trained
    torch.set_num_threads(num_threads)


ROOMS = [f"room_{i}" for i in range(6)]
BOTH = ("--data", "pack", "--data", "walk", "--out", "run", "--device", "cpu", "--scenes", "0")


@pytest.mark.parametrize(
    ("words", "trained", "measured"),
    [
        ((), {"toy": ROOMS, "hololens": ROOMS[:3]}, set()),
        (("--leave-out", "hololens"), {"toy": ROOMS}, {"hololens"}),
        (
            ("--leave-out", "room_1"),
            {"toy": [ROOMS[0], *ROOMS[2:]], "hololens": ["room_0", "room_2"]},
            {"toy", "hololens"},
        ),
        (("--leave-out", "hololens", "--leave-out", "room_4"), {"toy": [*ROOMS[:4], ROOMS[5]]}, {"toy", "hololens"}),
    ],
)
def test_packs_are_joined_and_what_is_left_out_is_only_measured_on(
    words: tuple[str, ...], trained: dict[str, list[str]], measured: set[str], packs: dict[str, list[str]]
) -> None:
    assert run("train", "foundation", *BOTH, *words) == 0
    assert packs == trained
    (line,) = [json.loads(line) for line in Path("run/log.jsonl").read_text().splitlines()]
    assert line["abs_rel"].keys() == measured
    assert all(0 < score < 10 for score in line["abs_rel"].values())


def test_a_fold_leaves_out_a_set_of_one_place_whole(packs: dict[str, list[str]]) -> None:
    for number in range(3):
        packs.clear()
        assert run("train", "foundation", *BOTH, "--out", f"run{number}", "--fold", f"{number}/3") == 0
        assert packs["toy"] == [scene for scene in ROOMS if fold_of("toy", scene, 3) != number]
        assert ("hololens" in packs) == (number != 1)


def test_leaving_out_everything_is_one_line(packs: dict[str, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", "foundation", *BOTH, "--leave-out", "hololens", "--leave-out", "toy") == 2
    shown = capsys.readouterr().err
    assert "all scenes of pack and walk are held out, which leaves none to train on" in shown
    assert len(shown.splitlines()) == 1
    assert not packs


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line(pack: Path, tmp_path: Path) -> None:
    done = mrac("train", "foundation", "--data", pack, "--out", tmp_path / "run", "--device", "cuda")
    assert done.returncode == 2
    assert done.stderr == "mrac: train: device 'cuda' was asked for, but torch sees no GPU; leave --device away\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--device", "abacus"], "no device 'abacus'"),
        (["--data", "nowhere"], "no nowhere/manifest.csv"),
        (["--hold-out", "1"], "--hold-out"),
        (["--hold-out", "-0.1"], "--hold-out"),
        (["--steps", "0"], "--steps"),
        (["--steps", "nan"], "--steps"),
        (["--scenes", "-1"], "--scenes"),
        (["--seed", "-1"], "--seed"),
        (["--seed", str(2**40)], "--seed"),
        (["--out", "pack/manifest.csv"], "pack/manifest.csv cannot be a folder"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], says: str, pack: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(pack.parent)
    assert run("train", "foundation", "--data", "pack", "--out", "run", "--device", "cpu", *words) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.startswith("mrac: ")
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("recipe", ["foundation", "vanilla"])
def test_without_torch_there_is_help_and_the_extra_to_install(recipe: str) -> None:
    words = ["mrac", "train", recipe]
    for more, code, says in ((["--help"], 0, "--hold-out"), (["--data", "a", "--out", "b"], 2, "mrac-depth[lab]")):
        program = (
            f"import sys; sys.modules['torch'] = None; sys.argv = {words + more}; import mrac.cli; mrac.cli.main()"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert says in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_name_that_cannot_be_left_out_is_refused(
    packs: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("train", "foundation", *BOTH, "--leave-out", "hololense") != 0
    assert "'hololense' is to be left out" in capsys.readouterr().err
    assert not packs
