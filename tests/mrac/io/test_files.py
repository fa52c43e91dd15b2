from pathlib import Path
from typing import IO

import numpy as np
import pytest

from mrac.io.files import read_png16, user_path, write_arrays, write_depth_png, write_json, write_whole


@pytest.mark.parametrize(("farthest", "scale"), [(60.0, 1000.0), (80.0, 256.0), (1e4, 6.0)])
def test_depth_png_holds_the_farthest_pixel(farthest: float, scale: float, tmp_path: Path) -> None:
    depth_m = np.array([[1e-3, 1.0, farthest]], np.float32)
    assert write_depth_png(tmp_path / "d.png", depth_m) == scale
    stored, stated = read_png16(tmp_path / "d.png")
    assert stated == scale
    assert stored.min() >= 1, "0 would mean no depth"
    np.testing.assert_allclose(stored / scale, depth_m, atol=1.01 / scale)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})

    def fail(file: IO[bytes]) -> None:
        file.write(b"half")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_whole(path, fail)
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_json_refuses_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_what_numpy_reads_and_the_same_file_each_time(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((30, 40), np.float32)
    for name in ("a.npz", "b.npz"):
        write_arrays(tmp_path / name, depth_m=values, sigma_m=values.T)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as maps:
        np.testing.assert_array_equal(maps["depth_m"], values)
        np.testing.assert_array_equal(maps["sigma_m"], values.T)


def test_a_tilde_in_a_spec_is_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert user_path("~/a.onnx") == tmp_path / "a.onnx"
    assert user_path("a~b/c.onnx") == Path("a~b/c.onnx")
    assert user_path("~nobody-of-that-name/c.onnx") == Path("~nobody-of-that-name/c.onnx")
