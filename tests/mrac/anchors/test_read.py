import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mrac import Anchors, ContractError
from mrac.anchors import csv, read_anchors
from mrac.io.files import SCALE_KEY, write_depth_png


def same(anchors: Anchors, uv: ArrayLike, z: ArrayLike) -> None:
    np.testing.assert_allclose(anchors.uv_px, np.asarray(uv))
    np.testing.assert_allclose(anchors.z_m, np.asarray(z))


@pytest.mark.parametrize(
    "text",
    [
        "u,v,z\n1,2,3.5\n4.25,5,6\n",
        "z_m,row,col\n3.5,2,1\n6,5,4.25\n",
        "x;y;depth\n1;2;3.5\n4.25;5;6\n",
        "U\tV\tZ\n1\t2\t3.5\n4.25\t5\t6\n",
        "# a sensor\nu v z\n1 2 3.5\n\n4.25 5 6\n",
        "\ufeffu,v,z,reflectance\r\n1,2,3.5,9\r\n4.25,5,6,8\r\n",
    ],
)
def test_csv_dialects(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    same(read_anchors(tmp_path / "a.csv"), [[1.0, 2.0], [4.25, 5.0]], [3.5, 6.0])


@pytest.mark.parametrize("sigma_m", [None, [0.1, 1 / 3, np.nan]])
def test_a_csv_that_was_written_is_read_back_exactly(sigma_m: list[float] | None, tmp_path: Path) -> None:
    written = Anchors([[1.0, 0.1], [2.0 / 3.0, 5e-324], [np.nan, -0.0]], [np.pi, np.inf, np.nan], sigma_m)
    csv.write(tmp_path / "a.csv", written)
    read = read_anchors(tmp_path / "a.csv")
    np.testing.assert_array_equal(read.uv_px, written.uv_px)
    np.testing.assert_array_equal(read.z_m, written.z_m)
    assert (read.sigma_m is None) == (written.sigma_m is None)
    if read.sigma_m is not None:
        np.testing.assert_array_equal(read.sigma_m, written.sigma_m)


def test_csv_empty_cells_are_readings_that_never_came(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("u,v,z,sigma\n1,2,,0.1\n4,5,nan,0.1\n6,7,1,0.1\n")
    anchors = read_anchors(tmp_path / "a.txt")
    assert np.isnan(anchors.z_m).tolist() == [True, True, False]
    assert anchors.sigma_m is not None
    assert anchors.sigma_m.tolist() == [0.1] * 3


def test_csv_in_millimetres(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("u,v,z,std\n1,2,1500,30\n")
    anchors = read_anchors(tmp_path / "a.csv", scale=1000)
    assert anchors.sigma_m is not None
    assert (anchors.z_m[0], anchors.sigma_m[0]) == pytest.approx((1.5, 0.03))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("1,2,3\n4,5,6\n", "no column 'u'"),
        ("u,v\n1,2\n", "no column 'z' in its first line.*depth_m"),
        ("u,x,v,z\n1,1,2,3\n", "two columns for u"),
        ("u,v,z\n1,2,far\n", "line 2 has z = 'far'"),
        ("u,v,z\n1,2,3\n1,2\n", r"line 3 has 2 cells; column 3 \(z\)"),
    ],
)
def test_csv_mistakes_name_the_place(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ContractError, match=says):
        read_anchors(tmp_path / "a.csv")


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200), suffix=st.sampled_from(["csv", "npz", "png", "txt", "tsv", "xyz", ""]))
def test_no_file_content_breaks_the_reader(
    content: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("f") / f"a.{suffix}"
    path.write_bytes(content)
    try:
        assert isinstance(read_anchors(path), Anchors)
    except ContractError as error:
        assert str(path) in str(error)  # noqa: PT017  (either outcome is right; the message must name the file)


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", uv_px=[[1, 2], [3, 4]], z_m=[1.0, 2.0], sigma_m=[0.1, 0.2])
    anchors = read_anchors(tmp_path / "a.npz")
    same(anchors, [[1, 2], [3, 4]], [1, 2])
    np.testing.assert_allclose(anchors.sigma_m, [0.1, 0.2])  # type: ignore[arg-type]


def test_npz_with_all_that_anchors_have(tmp_path: Path) -> None:
    more = {"extent_px": [[4.0, 2.0]], "confidence": [0.5], "flag": ["occluded"]}
    np.savez(tmp_path / "a.npz", uv_px=[[1, 2]], z_m=[1.0], **more)  # type: ignore[arg-type]
    anchors = read_anchors(tmp_path / "a.npz")
    assert {name: getattr(anchors, name).tolist() for name in more} == more


def test_npz_without_depth(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", uv_px=[[1, 2]])
    with pytest.raises(ContractError, match="no array 'z_m'"):
        read_anchors(tmp_path / "a.npz")


@pytest.mark.parametrize("scale", [256.0, 1000.0])
def test_sparse_png(scale: float, tmp_path: Path) -> None:
    stored = np.zeros((5, 7), np.uint16)
    stored[3, 1], stored[4, 6] = 512, 65535
    Image.fromarray(stored).save(tmp_path / "a.png")
    same(read_anchors(tmp_path / "a.png", scale), [[1, 3], [6, 4]], [512 / scale, 65535 / scale])


def test_sparse_png_must_state_its_scale(tmp_path: Path) -> None:
    Image.fromarray(np.ones((2, 2), np.uint16)).save(tmp_path / "a.png")
    with pytest.raises(ContractError, match="--anchors-scale 256"):
        read_anchors(tmp_path / "a.png")


def test_our_own_depth_png_states_it(tmp_path: Path) -> None:
    depth_m = np.array([[0.5, 2.25], [1.0, 60.0]])
    assert write_depth_png(tmp_path / "a.png", depth_m) == 1000
    same(read_anchors(tmp_path / "a.png"), [[0, 0], [1, 0], [0, 1], [1, 1]], depth_m.ravel())


def test_8_bit_png_is_refused(tmp_path: Path) -> None:
    Image.fromarray(np.ones((2, 2), np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(ContractError, match="16-bit"):
        read_anchors(tmp_path / "a.png", 256)


@pytest.mark.parametrize("name", ["missing.csv", "missing.png", "cloud.las"])
def test_missing_or_unknown(name: str, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=name):
        read_anchors(tmp_path / name)


def test_scale_must_be_positive(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("u,v,z\n1,2,3\n")
    with pytest.raises(ContractError, match="scale -1"):
        read_anchors(tmp_path / "a.csv", scale=-1.0)


def test_damaged_archives_are_named(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", uv_px=np.random.default_rng(0).random((50, 2)), z_m=np.ones(50))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    for at in range(60, len(content) - 200, 7):
        content[at] ^= 0xFF
    (tmp_path / "a.npz").write_bytes(bytes(content))
    with pytest.raises(ContractError, match=r"a\.npz"):
        read_anchors(tmp_path / "a.npz")


def test_positions_without_depths_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", uv_px=np.zeros((0, 2)), z_m=[1.0, 2.0, 3.0])
    with pytest.raises(ContractError, match=r"uv_px.*\(3, 2\)"):
        read_anchors(tmp_path / "a.npz")


def test_complex_readings_are_refused() -> None:
    with pytest.raises(ContractError, match="complex"):
        Anchors([[1, 1]], [1j])


@pytest.mark.parametrize("text", ["abc", "0", "nan", "-3"])
def test_a_png_that_states_a_senseless_scale(text: str, tmp_path: Path) -> None:
    info = PngInfo()
    info.add_text(SCALE_KEY, text)
    Image.fromarray(np.ones((2, 2), np.uint16)).save(tmp_path / "a.png", pnginfo=info)
    with pytest.raises(ContractError, match="states a depth scale"):
        read_anchors(tmp_path / "a.png")


def test_csv_with_an_enormous_cell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("u,v,z\n" + "1" * 200_000 + ",2,3\n")
    with pytest.raises(ContractError, match=r"a\.csv"):
        read_anchors(tmp_path / "a.csv")


@pytest.mark.parametrize("scale", [1000, "1000", "mm", " Realsense "])
def test_a_scale_is_a_number_or_a_name_as_of_a_depth_map(scale: str | float, tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("u,v,z\n1,2,2500\n", encoding="utf-8")
    assert read_anchors(path, scale).z_m.tolist() == [2.5]


@pytest.mark.parametrize("scale", ["inch", "0", math.nan, 1e12, [1000]])
def test_a_scale_that_is_none_is_named(scale: Any, tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("u,v,z\n1,2,2500\n", encoding="utf-8")
    with pytest.raises(ContractError, match=rf"anchors: scale {re.escape(repr(scale))} arrived; .*, or one of tum, "):
        read_anchors(path, scale)
