"""Photographs as they come: turned, deep, tiny, broken; through the whole command."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.test_cli import calibrate
from tests.mrac.io.test_image import write_png


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (32, 32), (3, 2000)])
def test_small_and_narrow_pictures(size: tuple[int, int], tmp_path: Path) -> None:
    width, height = size
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "a.csv").write_text(f"u,v,z\n0,0,2\n{width - 1},{height - 1},3\n")
    done = calibrate(tmp_path / "a.png", tmp_path / "a.csv", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out" / "depth.npz") as maps:
        assert maps["depth_m"].shape == (height, width)
        assert np.isfinite(maps["depth_m"]).all()
        assert (maps["sigma_m"] > 0).all()


def test_readings_are_pixels_of_the_upright_picture(tmp_path: Path) -> None:
    picture = Image.fromarray(np.zeros((40, 60, 3), np.uint8))
    exif = picture.getexif()
    exif[0x0112] = 6  # shown as 40 wide, 60 high
    picture.save(tmp_path / "a.jpg", exif=exif)
    (tmp_path / "a.csv").write_text("u,v,z\n5,55,2\n35,5,3\n55,5,4\n")
    done = calibrate(tmp_path / "a.jpg", tmp_path / "a.csv", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [a["reason"] for a in report["anchors"]] == ["unjudged", "unjudged", "out_of_image"]
    with np.load(tmp_path / "out" / "depth.npz") as maps:
        assert maps["depth_m"].shape == (60, 40)


def test_a_bomb_is_one_line_wherever_it_comes_in(tmp_path: Path) -> None:
    write_png(tmp_path / "bomb.png", np.zeros((1, 4), np.uint16), 0, claims=(50_000, 40_000))
    write_png(tmp_path / "a.png", np.zeros((9, 9), np.uint16), 0)
    (tmp_path / "a.csv").write_text("u,v,z\n0,0,2\n")
    for image, anchors in (("bomb.png", "a.csv"), ("a.png", "bomb.png")):
        done = calibrate(tmp_path / image, tmp_path / anchors, tmp_path / "out")
        assert done.returncode == 2
        assert "bomb.png: more than 178 megapixels" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


TWELVE = """
import re, sys
from pathlib import Path
import numpy as np
from mrac import Anchors, Calibrator, RelativeDepth
from mrac.io.files import write_depth_png
from mrac.result.preview import preview

image = np.zeros((3000, 4000, 3), np.uint8)
anchors = Anchors([[5, 5], [3900, 2900], [2000, 100]], [1.0, 2.0, 3.0])
relative = RelativeDepth(np.broadcast_to(np.linspace(0, 1, 4000, dtype=np.float32), (3000, 4000)), "inverse_depth")
out = Calibrator()(image, anchors, relative=relative)
assert out.depth_m.shape == (3000, 4000) and np.isfinite(out.sigma_m[::100]).all()
write_depth_png(Path(sys.argv[1]) / "depth.png", out.depth_m)
preview(out, anchors, image)
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel's peak counter is Linux's own")
def test_twelve_megapixels_need_no_more_than_500_megabytes(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TWELVE, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500_000, "kilobytes"
