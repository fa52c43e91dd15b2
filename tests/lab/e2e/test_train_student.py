"""`mrac train student`, then `mrac train quantize` with its --teacher, as a person uses them, by recipes made small."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.torch import load_file

from mrac.conventions import FloatArray
from mrac.foundation.embedded import NETWORK, Embedded
from mrac.gpu.published import network_from_onnx
from mrac.lab.train.foundation.checkpoint import part
from mrac.lab.train.foundation.rounding import round_weights
from mrac.lab.train.published import trained_network
from mrac.lab.train.quantized.training import QuantizeOptions
from mrac.lab.train.small_network import SmallNetwork
from mrac.lab.train.student.start import started
from mrac.lab.train.student.training import StudentOptions
from tests.lab.e2e.test_train import run
from tests.lab.train import tiny
from tests.lab.train.student import small

IMAGE = np.random.default_rng(0).integers(0, 256, (2, 3, 64, 96)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def one_line(shown: str) -> bool:
    return shown.startswith("mrac: ") and "internal error" not in shown and len(shown.splitlines()) == 1


def by_onnx_runtime(path: Path, image: FloatArray = IMAGE) -> FloatArray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"image": image})[0])


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture(scope="module")
def trained(pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two steps by the command."""
    out = tmp_path_factory.mktemp("student") / "run"
    given: list[StudentOptions] = []

    def recipe(**changes: Any) -> StudentOptions:
        return small.options(**changes)

    def spy(one: StudentOptions, **changes: Any) -> StudentOptions:
        given.append(replace(one, **changes))
        return given[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrac.lab.train.student.training.StudentOptions", recipe)
        patch.setattr("mrac.lab.cli.train_student.replace", spy)
        words = ("--steps", "2", "--scenes", "0", "--batch", "3", "--seed", "5", "--device", "cpu")
        assert run("train", "student", "--data", pack, "--out", out, *words) == 0
    (options,) = given
    assert (options.num_steps, options.num_scenes, options.batch, options.small_batch, options.seed) == (2, 0, 3, 4, 5)
    return out


def test_what_is_exported_is_the_mean_of_the_weights(trained: Path) -> None:
    assert {p.name for p in trained.iterdir()} == {"state.safetensors", "log.jsonl", "student.onnx"}
    (line,) = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    assert line["step"] == 2
    network = SmallNetwork().eval().requires_grad_(False)
    network.load_state_dict(part(load_file(trained / "state.safetensors"), "averaged."))
    round_weights(network)
    expected = network(torch.from_numpy(IMAGE)).numpy()
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(by_onnx_runtime(trained / "student.onnx"), expected, atol=1e-4)
    read = trained_network(trained / "student.onnx")
    assert isinstance(read, SmallNetwork)
    np.testing.assert_allclose(read(torch.from_numpy(IMAGE)).numpy(), expected, atol=1e-4)


def test_it_becomes_an_8_bit_network_taught_by_the_embedded_one(
    trained: Path, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def recipe(num_steps: int, seed: int) -> QuantizeOptions:
        return QuantizeOptions(num_steps, batch=1, shapes=small.SHAPES, warmup=1, seed=seed)

    monkeypatch.setattr("mrac.lab.train.quantized.training.QuantizeOptions", recipe)
    network, out = trained / "student.onnx", tmp_path / "small.onnx"
    words = ("--data", pack, "--network", network, "--teacher", NETWORK, "--out", out, "--frames", "2", "--steps", "2")
    assert run("train", "quantize", *words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"2 steps; distance to \S*embedded\.onnx on held-out frames, of what it was: toy \d", shown)
    single, eight, shifted = by_onnx_runtime(network), by_onnx_runtime(out), by_onnx_runtime(out, 255.0 - IMAGE)
    assert 0.0 < np.abs(eight - single).mean() < 0.5 * np.abs(shifted - eight).mean() + 0.1
    relative = Embedded(str(out))(np.moveaxis(IMAGE[0], 0, 2).astype(np.uint8))
    assert relative.values.shape == (64, 96)
    assert out.stat().st_size < 0.6 * network.stat().st_size
    # With the network itself as teacher, the folder holds a run of another aim.
    again = [str(word) for word in words if word not in ("--teacher", NETWORK)]
    assert run("train", "quantize", *again) == 2
    assert "other network (calibrated)" in " ".join(capsys.readouterr().err.split())


def test_a_layer_that_adds_nothing_yet_is_read_back_from_its_file(tmp_path: Path) -> None:
    from mrac.lab.train.foundation.run import export_foundation  # noqa: PLC0415

    torch.manual_seed(0)
    network = started(network_from_onnx(NETWORK), [torch.from_numpy(IMAGE)]).eval().requires_grad_(False)
    export_foundation(network, tmp_path / "started.onnx")
    read = trained_network(tmp_path / "started.onnx")
    image = torch.from_numpy(IMAGE)
    torch.testing.assert_close(read(image), network(image), rtol=0.0, atol=1e-3)  # weights in 16 bits


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [
        ("student", ["--device", "abacus"], "no device 'abacus'"),
        ("student", ["--teacher", "nothing.onnx"], "nothing.onnx: no such file"),
        ("student", ["--steps", "0"], "--steps"),
        ("student", ["--batch", "0"], "--batch"),
        ("student", ["--data", "nowhere"], "no nowhere/manifest.csv"),
        ("quantize", ["--teacher", "nothing.onnx"], "nothing.onnx: no such file"),
        ("quantize", ["--network", "nothing.onnx"], "nothing.onnx: no such file"),
    ],
)
def test_a_mistake_is_one_line(
    command: str,
    words: list[str],
    says: str,
    pack: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(pack.parent)
    assert run("train", command, "--data", pack, "--out", "run.onnx", *words) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert one_line(shown), shown


def test_help_names_every_option_without_torch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run("train", "student", "--help") == 0
    shown = capsys.readouterr().out
    recipe = StudentOptions()
    for words in ("--teacher", f"recipe's {recipe.num_steps}.", f"recipe's {recipe.num_scenes};"):
        assert words in shown
    assert f"recipe's {recipe.batch}." in shown
    assert 2 * recipe.small_batch == 3 * recipe.batch  # as --batch keeps them
    assert run("train", "student", "--data", "a", "--out", "b") == 2
    assert "mrac-depth[lab]" in capsys.readouterr().err
