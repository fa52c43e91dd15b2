"""The example in C++: compiled, run, and compared with the library."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from PIL import Image

from mrac import Calibrator
from mrac.lab.export.check import photograph
from mrac.lab.export.pipeline.whole import Sizes, pipeline_model

SOURCE = Path(__file__).parents[3] / "examples" / "cpp" / "main.cpp"
USUAL = ("/usr/include/onnxruntime", "/usr/local/include/onnxruntime", "/usr/include", "/usr/local/include")
SIZES = Sizes((90, 120), 64)


def _headers() -> Path | None:
    named = os.environ.get("MRAC_ORT_INCLUDE", "")
    folders = [Path(folder) for folder in ((named,) if named else USUAL)]
    return next((folder for folder in folders if (folder / "onnxruntime_cxx_api.h").is_file()), None)


def _library() -> Path | None:
    """Of the Python wheel, so that both run the same code."""
    return next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"), None)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler, headers, library = shutil.which("g++"), _headers(), _library()
    if compiler is None or headers is None or library is None:
        pytest.skip("needs g++ and onnxruntime's headers: set MRAC_ORT_INCLUDE to their folder")
    folder = tmp_path_factory.mktemp("cpp")
    linked = folder / "libonnxruntime.so.1"  # the name that the library calls itself
    linked.symlink_to(library)
    words = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{headers}", str(SOURCE), str(linked)]
    subprocess.run([compiler, *words, f"-Wl,-rpath,{folder}", "-o", str(folder / "calibrate")], check=True)
    return folder / "calibrate"


def test_depth_from_c_plus_plus_is_the_library_s(program: Path, tmp_path: Path) -> None:
    calibrator, scene = Calibrator("mrac", foundation="embedded:mirror=false"), photograph(SIZES)
    (tmp_path / "pipeline.onnx").write_bytes(pipeline_model(calibrator, SIZES).SerializeToString())
    Image.fromarray(scene.image).save(tmp_path / "image.ppm")
    rows = scene.anchors[: scene.num_readings]
    np.savetxt(tmp_path / "anchors.csv", rows, fmt="%.9g", delimiter=",", header="u_px,v_px,z_m", comments="")
    files = [str(tmp_path / name) for name in ("pipeline.onnx", "image.ppm", "anchors.csv", "depth.pfm")]
    done = subprocess.run([str(program), *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = calibrator(scene.image, scene.readings)
    kept = int(expected.anchors.keep.sum())
    assert done.stdout == f"{kept} of {scene.num_readings} readings kept, status 0\n"
    kind, size, order, values = (tmp_path / "depth.pfm").read_bytes().split(b"\n", 3)
    assert (kind, size, order) == (b"Pf", b"120 90", b"-1.0")
    depth_m = np.frombuffer(values, "<f4").reshape(SIZES.image)[::-1]
    np.testing.assert_allclose(depth_m, expected.depth_m, rtol=1e-5)


@pytest.mark.parametrize(("replaced", "message"), [("image.ppm", "a P6 of 120 x 90"), ("anchors.csv", "too many")])
def test_a_wrong_file_is_one_line(program: Path, tmp_path: Path, replaced: str, message: str) -> None:
    (tmp_path / "pipeline.onnx").write_bytes(pipeline_model(Calibrator("cfa_ols"), SIZES).SerializeToString())
    Image.fromarray(photograph(SIZES).image).save(tmp_path / "image.ppm")
    (tmp_path / "anchors.csv").write_text("1,1,2\n" * 3)
    (tmp_path / replaced).write_text("1,2,3\n" * (SIZES.max_anchors + 1))
    files = [str(tmp_path / name) for name in ("pipeline.onnx", "image.ppm", "anchors.csv", "depth.pfm")]
    done = subprocess.run([str(program), *files], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "depth.pfm").exists()
