"""The command line as a person uses it, looking at files, exit codes and what is shown only.

In a process of its own where that may matter; else in this one, which has imported everything and compiled it.
"""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from mrac import cli
from mrac.io.files import read_png16


def calibrate(image: Path, anchors: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return mrac_here("calibrate", image, "--anchors", anchors, "--foundation", "none", "--out", out)


def mrac(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mrac", *map(str, words)]
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)


def mrac_here(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command in this process."""
    out, err, command = io.StringIO(), io.StringIO(), ["mrac", *map(str, words)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as stop:
            cli.main()
    assert isinstance(stop.value.code, int)
    return subprocess.CompletedProcess(command, stop.value.code, out.getvalue(), err.getvalue())


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    depth_m = np.linspace(1, 4, 40 * 60).reshape(40, 60)
    Image.fromarray((depth_m[..., None] * [40, 50, 60]).astype(np.uint8)).save(tmp_path / "photo.png")
    np.save(tmp_path / "relative.npy", (1 / depth_m - 0.2) * 3)
    u, v = rng.integers(0, 60, 30), rng.integers(0, 40, 30)
    z = depth_m[v, u]
    z[:6] *= 0.4
    rows = [f"{a},{b},{c:.4f}" for a, b, c in zip(u, v, z, strict=True)] + ["99,0,1", "3,3,-1", "4,4,"]
    (tmp_path / "anchors.csv").write_text("\n".join(["u,v,z", *rows]))
    np.save(tmp_path / "truth.npy", depth_m)
    Image.fromarray(np.ones((20, 30), np.uint16)).save(tmp_path / "small.png")
    Image.fromarray(np.ones((40, 60), np.uint16)).save(tmp_path / "depth.png")
    return tmp_path


def test_the_main_job(files: Path) -> None:
    out = files / "out"
    done = mrac(
        "calibrate", files / "photo.png", "--anchors", files / "anchors.csv", "--relative", files / "relative.npy",
        "--out", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "status ok" in done.stdout
    assert {p.name for p in out.iterdir()} == {"depth.npz", "depth.png", "preview.png", "report.json"}

    with np.load(out / "depth.npz") as maps:
        depth_m, sigma_m = maps["depth_m"], maps["sigma_m"]
    np.testing.assert_allclose(depth_m, np.load(files / "truth.npy"), rtol=0.02)
    assert sigma_m.shape == (40, 60)
    stored, _ = read_png16(out / "depth.png")
    np.testing.assert_allclose(stored / 1000, depth_m, atol=0.001)

    report = json.loads((out / "report.json").read_text())
    assert report["status"] == "ok"
    assert report["files"]["depth.png"] == "16 bit, depth_m = value / 1000"
    assert len(report["anchors"]) == 33
    assert all(not a["keep"] and a["reason"] == "nearer_than_neighbours" for a in report["anchors"][:6])
    assert all(a["keep"] == (a["outlier_probability"] < 0.2) for a in report["anchors"])
    assert all(0.0 <= a["weight"] <= 1.0 for a in report["anchors"])
    assert [a["outlier_probability"] for a in report["anchors"][30:]] == [1.0, 1.0, 1.0]
    assert [a["reason"] for a in report["anchors"][30:]] == ["out_of_image", "not_positive", "not_finite"]
    assert set(report["timings_ms"]) == {"foundation", "anchors", "gate", "fit", "head"}
    assert report["versions"]["mrac"]
    assert report["fit"]["scale"] == pytest.approx(1 / 3, rel=0.01)


def test_with_nothing_but_an_image_and_readings(files: Path) -> None:
    done = calibrate(files / "photo.png", files / "anchors.csv", files / "o")
    assert done.returncode == 0, done.stderr
    assert "status ok" in done.stdout


def test_the_probability_of_being_near(files: Path) -> None:
    words: list[str | Path] = [
        "calibrate", files / "photo.png", "--anchors", files / "anchors.csv", "--relative", files / "relative.npy",
        "--out", files / "o",
    ]  # fmt: skip
    done = mrac_here(*words, "--nearer-than", "2", "--nearer-than", "3.5")
    assert done.returncode == 0, done.stderr
    with np.load(files / "o" / "nearer.npz") as nearer:
        np.testing.assert_array_equal(nearer["d_m"], [2.0, 3.5])
        at_2_m, at_3_m = nearer["probability"]
    truth = np.load(files / "truth.npy")
    assert at_2_m[truth < 1.8].min() > 0.9
    assert at_2_m[truth > 2.2].max() < 0.1
    assert at_3_m[truth < 3.2].min() > 0.9
    report = json.loads((files / "o" / "report.json").read_text())
    assert report["inputs"]["nearer_than_m"] == [2.0, 3.5]
    assert "nearer.npz" in report["files"]

    assert mrac_here(*words).returncode == 0
    assert not (files / "o" / "nearer.npz").exists()


def test_every_stage_can_be_chosen(files: Path) -> None:
    done = mrac_here(
        "calibrate", files / "photo.png", "--anchors", files / "anchors.csv", "--relative", files / "relative.npy",
        "--relative-space", "inverse_depth", "--gate", "siegel_mad:kappa=3", "--fit", "huber", "--head", "affine",
        "--space", "inverse_depth", "--out", files / "o",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stages = json.loads((files / "o" / "report.json").read_text())["stages"]
    assert (stages["gate"], stages["fit"], stages["head"]) == ("siegel_mad", "huber", "affine")


@pytest.mark.parametrize(
    "what", ["methods", "gates", "fits", "heads", "foundations", "datasets", "outliers", "placements"]
)
def test_list(what: str) -> None:
    done = mrac("list", what)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 2
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


@pytest.mark.parametrize("words", [["--help"], ["calibrate", "--help"], ["demo", "-h"], ["list", "-h"], ["--version"]])
def test_help(words: list[str]) -> None:
    done = mrac(*words)
    assert done.returncode == 0
    if "--version" not in words:
        examples = done.stdout.partition("Example")[2].splitlines()[1:]
        assert examples[0].strip().startswith("mrac ")
        assert max(len(line) for line in done.stdout.splitlines()) <= 80


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["calibrate", "missing.png", "--anchors", "{d}/anchors.csv", "--out", "{d}/o"], "missing.png: no such file"),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/nope.csv", "--out", "{d}/o"], "nope.csv: no such file"),
        (["calibrate", "{d}/anchors.csv", "--anchors", "{d}/anchors.csv", "--out", "{d}/o"], "not a readable image"),
        (["calibrate", "{d}/photo.png", "--out", "{d}/o"], "--anchors"),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--out", "{d}/photo.png"], "photo.png"),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--gate", "nope", "--out", "{d}/o"], "known:"),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--method", "no", "--out", "{d}/o"], "known:"),
        (
            ["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--relative", "a", "--foundation", "none",
             "--out", "{d}/o"],
            "exclude each other",
        ),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/small.png", "--anchors-scale", "9", "--out", "{d}/o"], "60×"),
        (["calibrate", "{d}/photo.png", "--anchors", "{d}/depth.png", "--out", "{d}"], "would overwrite"),
        (
            ["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--nearer-than", "0", "--out", "{d}/o"],
            "--nearer-than",
        ),
        (
            ["calibrate", "{d}/photo.png", "--anchors", "{d}/anchors.csv", "--foundation", "none", "--nearer-than",
             "nan", "--out", "{d}/o"],
            "probability_nearer: a distance of nan m arrived",
        ),
        (["list", "nonsense"], "nonsense"),
        (["nonsense"], "nonsense"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_code_2(words: list[str], says: str, files: Path) -> None:
    done = mrac_here(*(word.format(d=files) for word in words))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (files / "o" / "report.json").exists()


def test_no_arguments_show_the_help() -> None:
    done = mrac()
    assert done.returncode == 2
    assert "\n    mrac calibrate" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_consoles_without_greek(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    for what in ("gates", "fits"):
        assert mrac("list", what).returncode == 0


def test_a_failed_run_leaves_the_earlier_result_as_it_was(files: Path) -> None:
    assert calibrate(files / "photo.png", files / "anchors.csv", files / "o").returncode == 0
    (files / "o" / "preview.png").unlink()
    (files / "o" / "preview.png").mkdir()
    before = {name: (files / "o" / name).read_bytes() for name in ("report.json", "depth.npz", "depth.png")}
    done = calibrate(files / "photo.png", files / "anchors.csv", files / "o")
    assert done.returncode == 2
    assert "preview.png: is a folder" in done.stderr
    assert {name: (files / "o" / name).read_bytes() for name in before} == before


def test_a_tall_narrow_image(files: Path) -> None:
    Image.fromarray(np.zeros((900, 3, 3), np.uint8)).save(files / "tall.png")
    (files / "two.csv").write_text("u,v,z\n1,1,2\n1,800,3\n")
    done = calibrate(files / "tall.png", files / "two.csv", files / "o")
    assert done.returncode == 0, done.stderr
    with Image.open(files / "o" / "preview.png") as picture:
        assert picture.width * picture.height < 1e6


def test_debug_shows_the_traceback_on_either_side_of_the_command(files: Path) -> None:
    for words in (["--debug", "calibrate", "x.png"], ["calibrate", "x.png", "--debug"]):
        done = mrac(*words, "--anchors", files / "anchors.csv", "--out", files / "o")
        assert "Traceback" in done.stderr


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.one_of(
        st.text(max_size=120),
        st.lists(st.tuples(*[st.floats() | st.integers(-3, 70)] * 3), max_size=8).map(
            lambda rows: "u,v,z\n" + "\n".join(",".join(map(repr, row)) for row in rows)
        ),
    ),
    scale=st.sampled_from([[], ["--anchors-scale", "0"], ["--anchors-scale", "nan"], ["--anchors-scale", "1e-300"]]),
    method=st.sampled_from(["default", "cfa_ols", "cfa_ransac"]),
)
def test_no_anchors_file_yields_a_traceback(table: str, scale: list[str], method: str, files: Path) -> None:
    (files / "any.csv").write_text(table, encoding="utf-8", errors="replace")
    done = mrac_here(
        "calibrate", files / "photo.png", "--anchors", files / "any.csv", "--out", files / "any", "--method", method,
        "--relative", files / "relative.npy", *scale,
    )  # fmt: skip
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        with np.load(files / "any" / "depth.npz") as maps:
            assert np.isfinite(maps["depth_m"]).all()
            assert (maps["depth_m"] > 0).all()
            assert np.isfinite(maps["sigma_m"]).all()
        json.loads((files / "any" / "report.json").read_text())


def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise() -> None:
    script = (
        "import os, sys; from mrac.cli import main\ntry: main()\nfinally: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    for set_before, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"} | set_before
        words = [sys.executable, "-c", script, "--version"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split()[-1] == expected
