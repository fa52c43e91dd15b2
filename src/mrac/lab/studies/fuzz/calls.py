"""Random calls of the public functions with values of every kind, and random command lines."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

import mrac
from mrac import Anchors, Calibrator, RelativeDepth
from mrac.cli import cli

_ODD: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 5, 10**400, 0.5, float("nan"), float("inf"), -1e308, "", "a", "depth", b"x", [], [1, [2, 3]], {},
    (), {"a": 1}, object(), 1j, np.zeros(0), np.zeros((0, 2)), np.ones((3, 2)), np.full((3, 2), np.nan), np.array("x"),
    np.array([1, "a"], object), np.ma.masked, np.datetime64("2026-01-01"), np.zeros((6, 8, 3), np.uint8), range(3),
    [None], np.ones((2, 2, 2, 2)), np.float16(2), Path("nowhere"), "theil_sen_mad:kappa=3", "none", print, {1, 2},
)  # fmt: skip
_FLAGS: Final = (
    "--method", "--gate", "--fit", "--head", "--space", "--foundation", "--device", "--anchors-scale", "--nearer-than",
    "--save", "--fix", "--from", "--sensor", "--camera", "--pose", "--relative", "--relative-space", "--png-format",
    "--restart", "--json", "-q", "-v", "--no-cache", "--image-name", "--metres-per-unit", "--max-anchors", "--stride",
)  # fmt: skip
_VALUES: Final = (
    "", "nan", "-1", "0", "1e400", "9" * 400, "default", "none", "../x", "\x1b[31m", "a=b", ":", ",", "mrac", "mm",
    "theil_sen_mad:kappa=-1", "onnx:nowhere.onnx", "precomputed:a.csv", "a.csv", "a.png", ".", "/dev/null", "*", "[",
    "depth", "cuda", "auto", ".npz", "x.ply", "units", "units=mm", "table", "zones", "\udcff", "--", "-h", "é",
)  # fmt: skip
_IMAGE: Final = np.random.default_rng(0).integers(0, 255, (6, 8, 3), dtype=np.uint8)
_CALIBRATOR: Final = Calibrator("cfa_ols", foundation="none")


def call(rng: np.random.Generator, folder: Path) -> None:
    """One call with odd arguments."""

    def odd() -> Any:
        return _ODD[int(rng.integers(0, len(_ODD)))]

    good = Anchors([[1, 2], [3, 4], [6, 1]], [1.0, 2.0, 3.0])
    result = _CALIBRATOR(_IMAGE, good)
    match int(rng.integers(0, 12)):
        case 0:
            Anchors(odd(), odd(), odd())
        case 1:
            Anchors(np.ones((3, 2)), odd(), extent_px=odd(), confidence=odd(), flag=odd())
        case 2:
            RelativeDepth(odd(), odd())
        case 3:
            _CALIBRATOR(odd(), odd(), odd(), camera=odd())
        case 4:
            _CALIBRATOR(_IMAGE, good, odd(), camera=odd())
        case 5:
            stage = ("foundation", "gate", "fit", "head", "space", "cache", "device", "method")[int(rng.integers(0, 8))]
            Calibrator(**{stage: odd()})
        case 6:
            result.interval(odd())
            result.probability_nearer(odd())
        case 7:
            result.points(odd(), image=odd(), max_sigma=odd(), stride=odd())
        case 8:
            mrac.theil_sen_gate(odd(), odd(), odd())
        case 9:
            list(_CALIBRATOR.stream([(_IMAGE, odd())] if rng.random() < 0.5 else odd(), workers=1))
        case 10:
            Calibrator.from_config(odd())
        case _:
            mrac.Camera(odd(), odd(), odd(), odd(), odd(), odd())


def command_line(rng: np.random.Generator, folder: Path) -> None:
    """One `mrac calibrate` of a small picture, with random flags and values."""
    if not (folder / "a.png").exists():
        from PIL import Image  # noqa: PLC0415

        Image.fromarray(_IMAGE).save(folder / "a.png")
        (folder / "a.csv").write_text("u,v,z\n1,2,3\n4,1,2\n6,3,1\n")
    words = ["calibrate", str(folder / "a.png"), "--anchors", str(folder / "a.csv"), "--out", str(folder / "out"), "-q"]
    words += ["--method", "cfa_ols", "--foundation", "none", "--no-cache"]
    for _ in range(int(rng.integers(1, 4))):
        words.append(_FLAGS[int(rng.integers(0, len(_FLAGS)))])
        if rng.random() < 0.8:
            words.append(_VALUES[int(rng.integers(0, len(_VALUES)))])
    try:
        # What --save names lies in the folder, and --help is not for whoever reads the table.
        with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            cli.main(words, standalone_mode=False)
    except (click.ClickException, click.exceptions.Exit, OSError):
        return  # one line and exit code 2; --help
