from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mrac import ContractError
from mrac.io.files import write_depth_png
from mrac.io.raster import read_raster

DEPTH = np.array([[0.5, 1.25, 2.0], [3.0, 60.0, 0.0]], np.float32)


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.uint8])
@pytest.mark.parametrize("suffix", [".tif", ".npy", ".png"])
def test_values_come_back_as_stored(dtype: type, suffix: str, tmp_path: Path) -> None:
    if suffix == ".png" and dtype is np.float32:
        pytest.skip("PNG has no floats")
    stored: NDArray[Any] = DEPTH.astype(dtype)
    path = tmp_path / f"a{suffix}"
    np.save(path, stored) if suffix == ".npy" else Image.fromarray(stored).save(path)
    values, per_metre = read_raster(path)
    np.testing.assert_array_equal(values, stored)
    assert values.dtype.kind == ("f" if dtype is np.float32 else values.dtype.kind)
    assert per_metre is None


def test_our_own_png_states_its_scale(tmp_path: Path) -> None:
    scale = write_depth_png(tmp_path / "a.png", DEPTH + 0.5)
    values, per_metre = read_raster(tmp_path / "a.png")
    assert per_metre == scale
    np.testing.assert_allclose(values / scale, DEPTH + 0.5, atol=0.5 / scale)


@pytest.mark.parametrize("name", ["Z", "ViewLayer.Depth.Z", "anything"])
def test_exr_depth_is_found_by_name(name: str, tmp_path: Path) -> None:
    exr = pytest.importorskip("OpenEXR")
    path = tmp_path / "a.exr"
    exr.File({}, {name: DEPTH} if name == "anything" else {name: DEPTH, "sigma": DEPTH + 1}).write(str(path))
    np.testing.assert_array_equal(read_raster(path).values, DEPTH)


def test_what_is_no_raster_is_one_line(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((2, 2, 3), np.uint8)).save(tmp_path / "rgb.png")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    (tmp_path / "broken.tif").write_bytes(b"II*")
    for name, message in {
        "rgb.png": "one number per pixel",
        "cube.npy": r"\(H, W\) numbers are needed",
        "broken.tif": "not a readable image",
        "none.png": "no such file",
        "a.jpg": "one of .png",
    }.items():
        with pytest.raises(ContractError, match=message):
            read_raster(tmp_path / name)


def test_a_broken_exr_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("OpenEXR")
    (tmp_path / "a.exr").write_bytes(b"not an exr file at all")
    with pytest.raises(ContractError, match="not a readable EXR"):
        read_raster(tmp_path / "a.exr")
