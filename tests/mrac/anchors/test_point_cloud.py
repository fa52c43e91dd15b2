import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.anchors.point_cloud import from_point_cloud
from mrac.camera import Camera, Pose, read_camera, read_pose
from mrac.clouds import PointCloud, write_ply
from mrac.errors import ContractError
from mrac.io.files import read_png16

PACKS = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))
CAMERA = Camera(100.0, 100.0, 49.5, 39.5, 100, 80)


def pixels_of(uv_px: np.ndarray) -> np.ndarray:
    return np.floor(uv_px + 0.5).astype(int)


def test_kitti_s_scan_is_its_own_projection() -> None:
    scan, calibration = PACKS / "raw/kitti/000022.bin", PACKS / "raw/kitti/calib.txt"
    image = PACKS / "eval/kitti15/lidar/000022.png"
    if not scan.is_file() or not image.is_file():
        pytest.skip("the data packs are not here")
    stored, _ = read_png16(image)
    H, W = stored.shape
    anchors = from_point_cloud(scan, read_camera(calibration, size=(W, H)), read_pose(calibration))
    projected = np.zeros((H, W))
    u, v = pixels_of(anchors.uv_px).T
    projected[v, u] = anchors.z_m
    both = (projected > 0) & (stored > 0)
    assert both.sum() >= 0.99 * np.count_nonzero(stored)
    assert both.sum() >= 0.99 * len(anchors)
    assert np.mean(np.abs(projected - stored / 256.0)[both] <= 1 / 256) >= 0.99
    assert anchors.flag is not None
    assert 0.02 < np.mean(anchors.flag == "occluded") < 0.2


def test_files_clouds_and_arrays_are_taken(tmp_path: Path) -> None:
    xyz = np.array([[0.0, 0.0, 2.0], [0.5, 0.25, 4.0]])
    write_ply(tmp_path / "a.ply", xyz)
    wide = np.concatenate([xyz, np.ones((2, 2))], axis=1)
    for cloud in (tmp_path / "a.ply", str(tmp_path / "a.ply"), PointCloud(xyz), xyz, wide, xyz.tolist()):
        anchors = from_point_cloud(cloud, CAMERA, sigma_m=0.03)
        np.testing.assert_allclose(anchors.uv_px, [[49.5, 39.5], [62.0, 45.75]])
        np.testing.assert_allclose(anchors.z_m, [2.0, 4.0])
        np.testing.assert_array_equal(anchors.sigma_m, [0.03, 0.03])


def test_points_behind_outside_and_unmeasured_are_left_out_and_the_nearest_of_a_pixel_is_kept() -> None:
    xyz = [[0, 0, -2], [9, 0, 2], [np.nan] * 3, [0, 0, np.inf], [0, 0, 0], [0, 0, 5], [0.01, 0.01, 3], [0, 0, 4]]
    anchors = from_point_cloud(np.array(xyz), CAMERA)
    np.testing.assert_allclose(anchors.z_m, [3.0])


def test_distortion_and_pose_are_applied() -> None:
    bent = Camera(100.0, 100.0, 49.5, 39.5, 100, 80, "radtan", (0.2, 0.0, 0.0, 0.0))
    # A lidar's axes, x forward, y left, z up, 0.1 m behind the camera.
    pose = Pose(np.array([[0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, -0.1], [0, 0, 0, 1]]))
    anchors = from_point_cloud([[2.1, 0.8, 0.0]], bent, pose)
    np.testing.assert_allclose(anchors.z_m, [2.0])
    np.testing.assert_allclose(anchors.uv_px, [[49.5 - 40.0 * (1 + 0.2 * 0.16), 39.5]])


FAR = Camera(700.0, 700.0, 49.5, 39.5, 100, 80)  # a telephoto: the points below lie as densely as a lidar's


def wall_before_another() -> np.ndarray:
    """A near post seen in front of a far wall that the sensor sees through it, every second column."""
    u, v = np.meshgrid(np.arange(10, 90, 2), np.arange(10, 70, 5))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    z = np.where((uv[:, 0] > 40) & (uv[:, 0] < 60) & (uv[:, 0] % 4 == 0), 3.0, 9.0)
    return FAR.unproject(uv, z)


def test_points_seen_past_an_edge_are_flagged_and_stay_in_the_list() -> None:
    cloud = wall_before_another()
    flagged, plain = from_point_cloud(cloud, FAR), from_point_cloud(cloud, FAR, occlusion="off")
    np.testing.assert_array_equal(flagged.z_m, plain.z_m)
    assert plain.flag is None or not (plain.flag != "").any()
    assert flagged.flag is not None
    inner = (flagged.uv_px[:, 0] > 44) & (flagged.uv_px[:, 0] < 56)
    hidden = flagged.flag == "occluded"
    np.testing.assert_array_equal(hidden[inner], flagged.z_m[inner] > 5.0)
    assert not hidden[np.abs(flagged.uv_px[:, 0] - 50) > 20].any()


def test_sparse_points_say_nothing_of_each_other() -> None:
    uv = np.stack(np.meshgrid(np.arange(5, 95, 9), np.arange(5, 75, 13)), axis=2).reshape(-1, 2)
    z = np.where(np.arange(len(uv)) % 2, 3.0, 9.0)
    anchors = from_point_cloud(FAR.unproject(uv, z), FAR)
    assert anchors.flag is not None
    assert not (anchors.flag != "").any()


@given(st.integers(1, 600), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_no_more_anchors_than_asked_for_evenly_spread(num: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    uv = np.concatenate([rng.uniform(0, 20, (400, 2)), rng.uniform(0, (99, 79), (100, 2))])  # most in one corner
    every = from_point_cloud(CAMERA.unproject(uv, np.full(500, 4.0)), CAMERA)
    some = from_point_cloud(CAMERA.unproject(uv, np.full(500, 4.0)), CAMERA, max_anchors=num)
    assert 1 <= len(some) <= num
    assert set(map(tuple, some.uv_px)) <= set(map(tuple, every.uv_px))
    if num == 100:
        assert len(some) > 60
        assert np.mean((some.uv_px < 20).all(axis=1)) < 0.5


def test_thinned_anchors_are_many_and_none_is_occluded() -> None:
    some = from_point_cloud(wall_before_another(), FAR, max_anchors=100)
    assert 60 <= len(some) <= 100
    assert some.flag is not None
    assert not (some.flag != "").any()


def test_a_cloud_out_of_sight_gives_no_anchors() -> None:
    assert len(from_point_cloud([[0.0, 0.0, -1.0]], CAMERA, max_anchors=5)) == 0
    assert len(from_point_cloud(np.empty((0, 3)), CAMERA)) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"occlusion": "yes"}, "flag, off"), ({"max_anchors": 0}, "max_anchors 0"), ({"cloud": [[1, 2]]}, r"\(1, 2\)")],
)
def test_wrong_arguments_are_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        from_point_cloud(**{"cloud": [[0.0, 0.0, 1.0]], "camera": CAMERA, **arguments})
