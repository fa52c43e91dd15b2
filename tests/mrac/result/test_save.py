import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mrac import Anchors, Calibrator, ContractError, MetricDepth, MissingExtra
from mrac.camera import Camera
from mrac.clouds import read_cloud
from mrac.io.files import read_png16
from mrac.result import save as save_module
from mrac.result.depth_png import write_png
from mrac.units import DEPTH_SCALES

H, W = 6, 9
ANCHORS = Anchors([[1.0, 1.0], [np.nan, 2.0], [5.0, 5.0], [6.0, 2.0]], [1.0, 2.0, 3.0, 2.0])
IMAGE = np.random.default_rng(0).integers(0, 256, (H, W, 3)).astype(np.uint8)
CAMERA = Camera(8.0, 8.0, 4.0, 2.5, W, H)


@pytest.fixture(scope="module")
def result() -> MetricDepth:
    return Calibrator(foundation="none", gate="none")(IMAGE, ANCHORS)


def test_a_folder_is_what_the_command_writes(tmp_path: Path, result: MetricDepth) -> None:
    assert result.save(tmp_path / "out", image=IMAGE, anchors=ANCHORS) == tmp_path / "out"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "depth.npz", "depth.png", "preview.png", "report.json",
    }  # fmt: skip
    said = json.loads((tmp_path / "out" / "report.json").read_text())["anchors"]
    assert [(anchor["u"], anchor["z_m"]) for anchor in said] == [(1.0, 1.0), ("nan", 2.0), (5.0, 3.0), (6.0, 2.0)]


def test_a_folder_without_anchors_has_verdicts_without_positions(tmp_path: Path, result: MetricDepth) -> None:
    result.save(f"{tmp_path}/run.1/")  # the slash says that it is a folder
    said = json.loads((tmp_path / "run.1" / "report.json").read_text())["anchors"]
    assert [anchor["keep"] for anchor in said] == [True, False, True, True]
    assert "u" not in said[0]


def test_npz(tmp_path: Path, result: MetricDepth) -> None:
    with np.load(result.save(tmp_path / "a.npz")) as read:
        np.testing.assert_array_equal(read["depth_m"], result.depth_m)
        np.testing.assert_array_equal(read["sigma_m"], result.sigma_m)
        np.testing.assert_array_equal(read["reason"], result.anchors.reason)
        np.testing.assert_array_equal(read["keep"], result.anchors.keep)


@pytest.mark.parametrize("name", [None, *DEPTH_SCALES])
def test_png_states_its_scale_and_is_right_to_half_a_step(
    tmp_path: Path, result: MetricDepth, name: str | None
) -> None:
    values, scale = read_png16(result.save(tmp_path / "a.png", format=name))
    assert scale == DEPTH_SCALES[name or "mm"]
    assert np.abs(values / scale - result.depth_m).max() <= 0.5 / scale + 1e-6


@pytest.mark.parametrize(
    ("name", "held_m", "lost_m"), [("tum", 13.1, 13.2), ("mm", 65.5, 65.6), ("kitti", 255.9, 256.1)]
)
def test_depth_beyond_16_bits_is_no_depth(tmp_path: Path, name: str, held_m: float, lost_m: float) -> None:
    depth_m = np.array([[1e-5, held_m, lost_m, 5000.0]], np.float32)
    write_png(tmp_path / "a.png", depth_m, name)
    values, _ = read_png16(tmp_path / "a.png")
    assert values[0, 0] == 1  # 0 would be "no depth"
    assert values[0, 1] == round(held_m * DEPTH_SCALES[name])
    assert values[0, 2:].tolist() == [0, 0]


def test_tif_has_two_pages(tmp_path: Path, result: MetricDepth) -> None:
    with Image.open(result.save(tmp_path / "a.tif")) as pages:
        assert pages.n_frames == 2  # type: ignore[attr-defined]
        for number, wanted in enumerate((result.depth_m, result.sigma_m)):
            pages.seek(number)
            read = np.asarray(pages)
            assert read.dtype == np.float32
            np.testing.assert_array_equal(read, wanted)


def test_exr(tmp_path: Path, result: MetricDepth) -> None:
    OpenEXR = pytest.importorskip("OpenEXR")
    with OpenEXR.File(str(result.save(tmp_path / "a.exr")), separate_channels=True) as file:
        channels = {name: channel.pixels for name, channel in file.channels().items()}
    assert channels.keys() == {"Z", "sigma"}
    np.testing.assert_array_equal(channels["Z"], result.depth_m)
    np.testing.assert_array_equal(channels["sigma"], result.sigma_m)


def read_colmap(path: Path) -> NDArray[np.float32]:
    """As COLMAP's own scripts/python/read_write_dense.py does."""
    content = path.read_bytes()
    width, height, channels, values = content.split(b"&", 3)
    array = np.frombuffer(values, np.float32).reshape((int(width), int(height), int(channels)), order="F")
    return np.transpose(array, (1, 0, 2)).squeeze()


def test_colmap_dense_map(tmp_path: Path, result: MetricDepth) -> None:
    np.testing.assert_array_equal(read_colmap(result.save(tmp_path / "a.png.geometric.bin")), result.depth_m)


def test_ply_opens_elsewhere_with_colours_and_extents(tmp_path: Path, result: MetricDepth) -> None:
    trimesh: Any = pytest.importorskip("trimesh")
    path = result.save(tmp_path / "a.ply", camera=CAMERA, image=IMAGE)
    mesh = trimesh.load(path)
    xyz_m = result.points(CAMERA).xyz_m
    np.testing.assert_allclose(mesh.vertices, xyz_m, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mesh.bounds, [xyz_m.min(axis=0), xyz_m.max(axis=0)], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(mesh.colors[:, :3], IMAGE.reshape(-1, 3))
    stored = mesh.metadata["_ply_raw"]["vertex"]["data"]["sigma_m"]
    np.testing.assert_array_equal(np.ravel(stored), result.sigma_m.ravel())


def test_ply_is_read_by_our_own_reader(tmp_path: Path, result: MetricDepth) -> None:
    cloud = read_cloud(result.save(tmp_path / "a.ply", camera=CAMERA, image=IMAGE))
    np.testing.assert_allclose(cloud.xyz_m[:, 2], result.depth_m.ravel(), rtol=1e-6)
    np.testing.assert_array_equal(cloud.rgb, IMAGE.reshape(-1, 3))


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("a.jpg", {}, "no format '.jpg'; a folder or one of .npz"),
        ("a.ply", {}, "needs the camera"),
        ("a.png", {"format": "inches"}, "no PNG format 'inches'"),
        ("a.npz", {"format": "mm"}, "for a .png file"),
        ("a.ply", {"camera": Camera(8.0, 8.0, 4.0, 2.5, H, W)}, "aspect ratio"),
        ("a.ply", {"camera": CAMERA, "image": IMAGE[:3]}, "the image of this result is needed"),
        ("out", {"image": IMAGE.astype(np.float32)}, "the image of this result is needed"),
        ("out", {"anchors": Anchors([[1.0, 1.0]], [1.0])}, "1 anchors arrived for 4 verdicts"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, result: MetricDepth, name: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ContractError, match=says):
        result.save(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", save_module.SUFFIXES)
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, result: MetricDepth, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    (tmp_path / f"a{suffix}").write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        result.save(tmp_path / f"a{suffix}", camera=CAMERA)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(f"a{suffix}", b"old")]


def test_exr_without_openexr_names_the_extra(
    tmp_path: Path, result: MetricDepth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "OpenEXR", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[sensors\]"):
        result.save(tmp_path / "a.exr")
    assert not list(tmp_path.iterdir())
