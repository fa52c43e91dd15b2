"""What `mrac calibrate` does with cameras, sensors and --save, looking at files, exit codes and what is shown."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import examples
from tests.e2e.test_cli import mrac_here

WIDTH, HEIGHT = 60, 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # names without a folder, as people type them
    rng = np.random.default_rng(0)
    depth_m = np.linspace(1, 4, WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
    Image.fromarray((depth_m[..., None] * [40, 50, 60]).astype(np.uint8)).save("photo.png")
    u, v = rng.integers(0, WIDTH, 30), rng.integers(0, HEIGHT, 30)
    for name, per_metre in (("m", 1.0), ("mm", 1000.0)):
        rows = [f"{a},{b},{z * per_metre:.4f}" for a, b, z in zip(u, v, depth_m[v, u], strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["u,v,z", *rows]))
    for name, size in (("camera", (WIDTH, HEIGHT)), ("turned", (HEIGHT, WIDTH))):
        content = {"fx": 60.0, "fy": 60.0, "cx": 30.0, "cy": 20.0, "width": size[0], "height": size[1]}
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def calibrate(anchors: str, *words: str) -> tuple[int, str, str]:
    done = mrac_here("calibrate", "photo.png", "--anchors", anchors, "--foundation", "none", "--out", "out", *words)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--save", "photo.png"], "--save photo.png would overwrite the input photo.png"),
        (["--save", "out/depth.png"], "--save out/depth.png would overwrite what --out out writes"),
        (["--camera", "turned.json"], "the camera is of a 40×60 picture, the image is 60×40"),
        (["--camera-name", "2"], "--camera-name goes with --camera"),
        (["--save", "a.tif", "--png-format", "kitti"], "--png-format goes with --save FILE.png"),
        (["--max-anchors", "5"], "--max-anchors arrived with m.csv, read as table"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(folder: Path, words: list[str], says: str) -> None:
    before = (folder / "photo.png").read_bytes()
    code, out, err = calibrate("m.csv", *words)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert (folder / "photo.png").read_bytes() == before
    assert not (folder / "out").exists()


def test_units_are_put_right_before_the_sensors_range_and_noise_are_applied(folder: Path) -> None:
    right, _, _ = calibrate("m.csv", "--sensor", "arkit")
    depth_m = np.load("out/depth.npz")["depth_m"]
    fixed, _, _ = calibrate("mm.csv", "--sensor", "arkit", "--fix", "units")
    assert (right, fixed) == (0, 0)
    np.testing.assert_allclose(np.load("out/depth.npz")["depth_m"], depth_m, rtol=1e-4)


def test_readings_beyond_the_sensors_range_get_the_advice_on_units(folder: Path) -> None:
    code, _, err = calibrate("mm.csv", "--sensor", "arkit")
    assert code == 2
    assert "out_of_sensor_range ×30" in err
    assert "--fix units" in err


def test_json_is_the_whole_report(folder: Path) -> None:
    code, out, _ = calibrate("m.csv", "--json")
    assert code == 0
    assert json.loads(out) == json.loads((folder / "out" / "report.json").read_text())


def test_zones_in_a_table_are_noted_and_are_no_warning(folder: Path) -> None:
    """Means over an 8×8 grid of the shipped room, as u, v, z at the cells' centres; the picture is 640×480."""
    room = examples.load("room")
    Image.fromarray(room.image).save("photo.png")
    z_m = np.nanmean(np.where(room.truth_m > 0, room.truth_m, np.nan).reshape(8, 60, 8, 80), axis=(1, 3))
    rows = [f"{(i + 0.5) * 80 - 0.5},{(j + 0.5) * 60 - 0.5},{z_m[j, i]:.3f}" for j in range(8) for i in range(8)]
    Path("zones.csv").write_text("\n".join(["u,v,z", *rows]))
    done = mrac_here("calibrate", "photo.png", "--anchors", "zones.csv", "--out", "out")
    assert done.returncode == 0
    shown = done.stdout + done.stderr
    assert "note zones: readings lie on a grid and agree with the mean depth of its cells, 80×60 px" in shown
    assert "warning" not in shown
