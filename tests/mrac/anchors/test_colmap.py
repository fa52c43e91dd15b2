"""Anchors from a model of structure from motion."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrac import Calibrator
from mrac.anchors.colmap import from_colmap
from mrac.camera import Camera
from mrac.errors import ContractError
from mrac.sfm import read_model
from tests.mrac.sfm.synthetic import CAMERA, HEIGHT, WIDTH, depths, write_binary, write_text

SEEN = [5, 900, 31]  # points of image 7, in the order of its keypoints


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_binary(tmp_path)


@pytest.mark.parametrize("write", [write_binary, write_text])
def test_positions_are_the_keypoints_and_depth_is_along_the_axis(write: Callable[[Path], Path], tmp_path: Path) -> None:
    anchors = from_colmap(write(tmp_path), "right/a b.png", metres_per_unit=2.5)
    z = depths(1, [*SEEN, 4])
    np.testing.assert_allclose(anchors.z_m, 2.5 * z)
    # The camera of this image looks sideways: the length of the ray, or the world's z, is another number.
    model = read_model(tmp_path)
    image = model.image("right/a b.png")
    uv, row = model.seen_in(image)
    np.testing.assert_array_equal(anchors.uv_px, uv)
    np.testing.assert_allclose(CAMERA.unproject(anchors.uv_px, z), image.camera_from_world.apply(model.points.xyz[row]))
    assert not np.allclose(z, model.points.xyz[row][:, 2])


def test_a_model_that_is_read_already_gives_the_same(folder: Path) -> None:
    a, b = (from_colmap(source, "left/a.png", metres_per_unit=1.0) for source in (folder, read_model(str(folder))))
    np.testing.assert_array_equal(a.z_m, b.z_m)
    np.testing.assert_array_equal(a.uv_px, b.uv_px)


@pytest.mark.parametrize("scale", [None, 0.0, -1.0, np.nan, np.inf])
def test_without_a_scale_it_says_how_to_give_one(folder: Path, scale: float | None) -> None:
    with pytest.raises(ContractError, match=r"metres_per_unit=1\.0 if the model is metric.*scale_from"):
        from_colmap(folder, "left/a.png", metres_per_unit=scale)


def test_deviation_grows_with_the_error_and_scales_with_the_model(folder: Path) -> None:
    anchors = from_colmap(folder, "left/a.png", metres_per_unit=1.0)
    assert anchors.sigma_m is not None
    share = anchors.sigma_m / anchors.z_m
    assert (share > 0.013).all()
    assert share[1] > share[2] > share[0]  # errors of 1.5, 0.5 and 0.25 px; the first is nearest
    double = from_colmap(folder, "left/a.png", metres_per_unit=2.0)
    assert double.sigma_m is not None
    assert double.confidence is not None
    np.testing.assert_allclose(double.sigma_m, 2.0 * anchors.sigma_m)
    np.testing.assert_array_equal(double.confidence, anchors.confidence)


def test_confidence_falls_with_short_tracks_and_large_errors(folder: Path) -> None:
    anchors = from_colmap(folder, "right/c.png", metres_per_unit=1.0)  # points 5, 31 and 4
    assert anchors.confidence is not None
    assert anchors.confidence[0] > anchors.confidence[1] > 0.9
    assert anchors.confidence[2] < 0.1  # two images, 3 px
    np.testing.assert_allclose(anchors.confidence[0], 1.0 / (1.0 + np.exp(-5.4 + 2.3 * 0.25)))
    np.testing.assert_allclose(anchors.confidence[2], 1.0 / (1.0 + np.exp(-5.4 + 2.3 * 3.0 + 2.3)))


def test_an_error_that_colmap_did_not_compute_is_the_usual_one(folder: Path) -> None:
    write_text(folder)
    for name in ("cameras.bin", "images.bin", "points3D.bin"):
        (folder / name).unlink()
    path = folder / "points3D.txt"
    path.write_text(path.read_text().replace(" 0.25 ", " -1.0 ").replace(" 0.5 ", " 0.55 "))
    unknown, usual = np.asarray(from_colmap(folder, "right/c.png", metres_per_unit=1.0).confidence)[:2]
    assert unknown == usual


def test_limits_flag_and_drop_nothing(folder: Path) -> None:
    anchors = from_colmap(folder, "right/a b.png", metres_per_unit=1.0, min_track=3, max_error_px=0.4)
    assert anchors.flag is not None
    assert anchors.flag.tolist() == ["", "short_track", "large_error", "short_track"]


def test_positions_follow_a_picture_of_another_size_or_lens(folder: Path) -> None:
    own = from_colmap(folder, "left/a.png", metres_per_unit=1.0)
    half = from_colmap(folder, "left/a.png", metres_per_unit=1.0, camera=CAMERA.resized(WIDTH // 2, HEIGHT // 2))
    np.testing.assert_allclose(half.uv_px, (own.uv_px + 0.5) / 2 - 0.5)
    np.testing.assert_array_equal(half.z_m, own.z_m)
    bent = Camera(40.0, 40.0, 30.0, 22.0, WIDTH, HEIGHT, "radtan", (0.1, 0.0, 0.0, 0.0))
    seen = from_colmap(folder, "left/a.png", metres_per_unit=1.0, camera=bent)
    model = read_model(folder)
    row = model.points.rows_of(np.array(SEEN))
    np.testing.assert_allclose(seen.uv_px, bent.project(model.points.xyz[row]), atol=1e-9)


def test_an_image_without_points_gives_no_anchors(folder: Path) -> None:
    assert len(from_colmap(folder, "empty.png", metres_per_unit=1.0)) == 0


def test_the_pipeline_takes_them(folder: Path) -> None:
    anchors = from_colmap(folder, "right/a b.png", metres_per_unit=1.0, max_error_px=2.0)
    result = Calibrator(foundation="none")(np.zeros((HEIGHT, WIDTH, 3), np.uint8), anchors)
    assert result.depth_m.shape == (HEIGHT, WIDTH)
    assert result.anchors.reason[3] == "large_error"
    assert not result.anchors.keep[3]
