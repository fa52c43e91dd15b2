"""`mrac train vanilla` and its siblings as a person uses them, with a recipe small enough for a test."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mrac.lab.train.heads import recipes
from mrac.lab.train.heads.options import HeadOptions
from tests.e2e.test_cli import mrac
from tests.lab.e2e.test_train import run
from tests.lab.train import tiny, tiny_heads


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "cache"))
    return tiny.write_pack(tmp_path / "pack")


def test_from_a_folder_of_frames_to_a_head_that_calibrates(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = recipes.b_prime()

    def small() -> HeadOptions:
        return replace(whole, weights=tiny_heads.WEIGHTS)

    monkeypatch.setattr(recipes, "b_prime", small)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    out = tmp_path / "run"
    words = ("--epochs", "1", "--batch", "2", "--hold-out", "0.3", "--form", "scale_free", "--device", "cpu")
    code = run("train", "b_prime", "--data", pack, "--out", out, "--seed", "3", *words)
    torch.set_num_threads(num_threads)
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert shown.out.strip().endswith("run/b_prime.safetensors: 1.9 MB")
    assert {"b_prime.onnx", "b_prime.safetensors", "best.safetensors", "log.jsonl"} <= {p.name for p in out.iterdir()}
    (line,) = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert 0 < line["abs_rel"]["toy"]["head"] < 10

    (tmp_path / "a.csv").write_text("u,v,z\n" + "".join(f"{9 * i},{6 * i},{5 - 0.4 * i}\n" for i in range(10)))
    done = mrac(
        "calibrate", pack / "0.png", "--anchors", tmp_path / "a.csv", "--out", tmp_path / "result",
        "--method", "cfa_ols", "--head", f"residual_unet:weights={out / 'b_prime.onnx'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "result" / "report.json").read_text())["stages"]["head"] == "residual_unet"

    # The same folder with another seed is another run.
    assert run("train", "b_prime", "--data", pack, "--out", out, *words) == 2
    assert "other options (seed)" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["vanilla", "--device", "abacus"], "no device 'abacus'"),
        (["vanilla", "--data", "nowhere"], "no nowhere/manifest.csv"),
        (["vanilla", "--foundation", "abacus"], "abacus"),
        (["vanilla", "--out-of-fold", "nothing.safetensors"], "nothing.safetensors is not a network"),
        (["vanilla", "--hold-out", "1"], "--hold-out"),
        (["vanilla", "--hold-out", "nan"], "--hold-out"),
        (["vanilla", "--epochs", "0"], "--epochs"),
        (["vanilla", "--precision", "fp16"], "fp16 needs a GPU"),
        (["raw_depth", "--form", "scale_free"], "--form"),
        (["vanilla", "--out", "pack/manifest.csv"], "pack/manifest.csv cannot be a folder"),
        (["ablation", "--limit", "0"], "--limit"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], says: str, pack: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(pack.parent)
    recipe, *more = words
    assert run("train", recipe, "--data", "pack", "--out", "run", "--device", "cpu", *more) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.startswith("mrac: ")
    assert len(shown.splitlines()) == 1


def test_exporting_what_is_no_head_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"")
    assert run("train", "export", tmp_path / "a.safetensors") == 2
    assert "is not a head of `mrac train`" in capsys.readouterr().err


@pytest.mark.parametrize("recipe", ["vanilla", "b_prime", "raw_depth", "sml_retrained", "ablation"])
def test_every_recipe_has_help(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", recipe, "--help") == 0
    shown = capsys.readouterr().out
    assert "--out-of-fold" in shown
    assert f"mrac train {recipe} --data" in shown
    assert ("--form" in shown) == (recipe in ("vanilla", "b_prime", "ablation"))
    assert ("--inverse-field" in shown) == (recipe != "sml_retrained")


def test_a_row_or_a_seed_that_is_none_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("train", "ablation", "--data", tmp_path, "--out", tmp_path / "out")
    for options, said in ((("--rows", "raw_ful"), "no row 'raw_ful'"), (("--seeds", "0,x"), "'x' is not")):
        assert run(*words, *options) == 2
        assert said in capsys.readouterr().err
