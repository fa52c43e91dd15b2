"""Messages of sensors to anchors: the same as the library's own readers make of the same numbers."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mrac import Anchors
from mrac.anchors.readings import joined
from mrac.camera import Camera, Pose
from mrac.errors import ContractError
from mrac.recordings.camera_info import camera_of_info, info_message
from mrac.recordings.points import coordinates, structured
from mrac.recordings.readings import ReadingOptions, View, readings_of
from mrac.sensors import sensor
from tests.mrac.recordings.bags import CAMERA, CLASSES, at, cloud, distance, header, image, room, scan

FORWARD = Pose(
    np.array([[0, -1, 0, 0], [0, 0, -1, 0.1], [1, 0, 0, 0], [0, 0, 0, 1]])
)  # camera from x forward, y left, z up
VIEW = View(size=(80, 60), camera=CAMERA, pose=FORWARD)
ALL = ReadingOptions(max_anchors=None)


def same(found: Anchors, expected: Anchors) -> None:
    for name in ("uv_px", "z_m", "sigma_m", "extent_px", "confidence", "flag"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


def test_a_depth_image() -> None:
    _, z = room()
    mm = np.rint(1000 * z).astype(np.uint16)
    found = readings_of("depth", image(at(0), "cam", mm, "16UC1"), View(size=(80, 60)), ReadingOptions(max_anchors=200))
    same(found, Anchors.from_depth_map(mm, scale="mm", max_anchors=200))
    tum = readings_of("depth", image(at(0), "cam", mm, "16UC1"), View(size=(80, 60)), ReadingOptions(scale="tum"))
    np.testing.assert_array_equal(tum.z_m, Anchors.from_depth_map(mm, scale=5000, max_anchors=500).z_m)
    with pytest.raises(ContractError, match="furlong"):
        readings_of("depth", image(at(0), "cam", mm, "16UC1"), View(size=(80, 60)), ReadingOptions(scale="furlong"))


def test_a_depth_image_of_another_camera_is_registered() -> None:
    other, pose = Camera(30.0, 30.0, 19.5, 14.5, 40, 30), Pose(np.eye(4) + 0.05 * np.eye(4, k=3))
    z = np.full((30, 40), 2.0, np.float32)
    view = View(size=(80, 60), camera=CAMERA, pose=pose, depth_camera=other)
    found = readings_of("depth", image(at(0), "depth", z, "32FC1"), view, ALL)
    same(found, Anchors.from_depth_map(z, camera=CAMERA, depth_camera=other, pose=pose))
    assert len(found) > 800


def test_a_cloud_with_the_noise_of_a_sensor() -> None:
    xyz = np.random.default_rng(0).uniform((1, -2, -1), (6, 2, 1), (400, 3)).astype(np.float32)
    found = readings_of("cloud", cloud(at(0), "lidar", xyz), VIEW, ReadingOptions(sensor=sensor("velodyne")))
    expected = Anchors.from_point_cloud(xyz.astype(np.float64), CAMERA, FORWARD, max_anchors=500)
    same(found, sensor("velodyne").apply(expected))
    assert found.sigma_m is not None


def test_a_scan_by_rep_117() -> None:
    angles = np.linspace(-0.5, 0.5, 9, dtype=np.float32)
    ranges = np.array([2, 2.5, -np.inf, 3, np.inf, 3, np.nan, 0.05, 25], np.float32)
    level = View(size=(80, 60), camera=CAMERA, pose=Pose(FORWARD.matrix - 0.1 * np.outer([0, 1, 0, 0], [0, 0, 0, 1])))
    found = readings_of("scan", scan(at(0), "laser", angles, ranges), level, ALL)
    assert found.flag is not None
    assert found.flag.tolist() == ["", "", "too_near", "", "no_return", "", "invalid_range", "too_near", "no_return"]
    np.testing.assert_allclose(found.z_m[:2], ranges[:2] * np.cos(angles[:2]), rtol=1e-6)


def test_a_range_is_an_area_as_wide_as_its_cone() -> None:
    found = readings_of("range", distance(at(0), "sonar", 2.0, fov=0.2, variance=0.01), VIEW, ALL)
    assert found.z_m.tolist() == [2.0]
    np.testing.assert_allclose(found.uv_px, [[39.5, 29.5 + 60 * 0.1 / 2.0]])
    assert found.extent_px is not None
    assert found.sigma_m is not None
    np.testing.assert_allclose(found.extent_px, [[2 * math.tan(0.1) * 60] * 2], rtol=1e-6)
    np.testing.assert_allclose(found.sigma_m, [0.1], rtol=1e-6)
    for length, flag in ((np.inf, "no_return"), (-np.inf, "too_near"), (np.nan, "invalid_range"), (12.0, "no_return")):
        flagged = readings_of("range", distance(at(0), "sonar", length), VIEW, ALL)
        assert flagged.flag is not None
        assert flagged.flag.tolist() == [flag]
    behind = View(size=(80, 60), camera=CAMERA, pose=Pose(np.diag([1.0, -1, -1, 1]) @ FORWARD.matrix))
    assert len(readings_of("range", distance(at(0), "sonar", 2.0), behind, ALL)) == 0


def test_a_detector_of_presence_measures_nothing() -> None:
    one = distance(at(0), "sonar", 2.0)
    detector = SimpleNamespace(
        **{name: getattr(one, name) for name in ("range", "field_of_view")}, min_range=2.0, max_range=2.0
    )
    with pytest.raises(ContractError, match="presence"):
        readings_of("range", detector, VIEW, ALL)


def test_readings_of_several_sensors_are_one_set() -> None:
    sonar = readings_of("range", distance(at(0), "sonar", 2.0, variance=0.01), VIEW, ALL)
    angles = np.linspace(-0.5, 0.5, 5, dtype=np.float32)
    laser = readings_of("scan", scan(at(0), "laser", angles, np.array([2, 2, np.inf, 2, 2.0])), VIEW, ALL)
    both = joined([sonar, laser])
    np.testing.assert_array_equal(both.uv_px, np.concatenate([sonar.uv_px, laser.uv_px]))
    assert both.sigma_m is not None
    assert both.extent_px is not None
    assert both.flag is not None
    np.testing.assert_allclose(both.sigma_m, [0.1, 0, 0, 0, 0, 0], rtol=1e-6)
    assert (both.extent_px[1:] == 0).all()
    assert both.flag.tolist() == ["", "", "", "no_return", "", ""]
    assert both.confidence is None


@pytest.mark.parametrize("kind", ["cloud", "scan", "range"])
def test_what_needs_a_camera_says_so(kind: str) -> None:
    with pytest.raises(ContractError, match="--camera"):
        readings_of(kind, None, View(size=(80, 60)), ALL)


def test_fields_of_a_cloud_of_any_layout() -> None:
    columns = {"intensity": np.arange(6, dtype=">f4"), "x": np.arange(6, dtype=">f8"), "y": np.ones(6, ">i2")}
    step, offsets = 24, {"intensity": 2, "x": 8, "y": 17}
    stored = np.zeros((2, 3 * step + 5), np.uint8)  # rows have padding too
    for name, column in columns.items():
        for i in range(column.size):
            raw = np.frombuffer(column[i : i + 1].tobytes(), np.uint8)
            start = (i % 3) * step + offsets[name]
            stored[i // 3, start : start + raw.size] = raw
    numbers = {"intensity": 7, "x": 8, "y": 3}
    fields = [
        CLASSES.make("sensor_msgs/msg/PointField", name=name, offset=offsets[name], datatype=numbers[name], count=1)
        for name in columns
    ]
    made: dict[str, Any] = {"height": 2, "width": 3, "is_bigendian": True, "point_step": step, "is_dense": True}
    message = CLASSES.make(
        "sensor_msgs/msg/PointCloud2", header=header(0, "lidar"), fields=fields, row_step=stored.shape[1],
        data=stored.ravel(), **made,
    )  # fmt: skip
    found = structured(message)
    for name, column in columns.items():
        np.testing.assert_array_equal(found[name], column)
    with pytest.raises(ContractError, match="no field 'z'"):
        coordinates(message)


def test_a_cloud_is_dense_only_where_every_position_is_finite() -> None:
    xyz = np.arange(6.0).reshape(2, 3)
    assert cloud(0, "cam", xyz).is_dense is True
    xyz[1] = np.nan
    assert cloud(0, "cam", xyz).is_dense is False


def test_a_cloud_without_points_needs_no_fields() -> None:
    empty = cloud(0, "lidar", np.empty((0, 3)))
    assert coordinates(empty).shape == (0, 3)
    empty.fields, empty.point_step = [], 0
    assert coordinates(empty).shape == (0, 3)


def test_points_without_coordinates_are_left_out_and_cut_data_are_said() -> None:
    xyz = np.array([[1, 2, 3], [np.nan, 0, 0], [4, 5, 6], [np.inf, 0, 0]], np.float32)
    message = cloud(at(0), "lidar", xyz)
    np.testing.assert_array_equal(coordinates(message), [[1, 2, 3], [4, 5, 6]])
    cut = SimpleNamespace(**{**vars_of(message), "data": message.data[:-1]})
    with pytest.raises(ContractError, match="47 bytes"):
        coordinates(cut)


@pytest.mark.parametrize(
    "camera",
    [
        CAMERA,
        Camera(60.0, 61.0, 39.0, 30.0, 80, 60, "radtan", (0.1, -0.02, 0.001, 0.002)),
        Camera(60.0, 61.0, 39.0, 30.0, 80, 60, "rational", (0.1, -0.02, 0.001, 0.002, 0.01, 0.02, 0.01, 0.003)),
        Camera(60.0, 61.0, 39.0, 30.0, 80, 60, "fisheye", (0.1, -0.02, 0.001, 0.002)),
    ],
)
def test_a_camera_there_and_back(camera: Camera) -> None:
    message = info_message(CLASSES, header(0, "cam"), camera)
    found = camera_of_info(message, "/cam/camera_info")
    np.testing.assert_array_equal(found.matrix, camera.matrix)
    uv = np.array([[3.0, 4.0], [70.0, 50.0]])
    np.testing.assert_array_equal(found.rays(uv), camera.rays(uv))
    of_ros1 = SimpleNamespace(**{name.upper() if len(name) == 1 else name: v for name, v in vars_of(message).items()})
    np.testing.assert_array_equal(camera_of_info(of_ros1, "/cam/camera_info").rays(uv), camera.rays(uv))
    assert camera_of_info(message, "/cam/camera_info", rectified=True).model == "pinhole"


def test_a_camera_that_is_not_calibrated_is_said() -> None:
    message = SimpleNamespace(**{**vars_of(info_message(CLASSES, header(0, "cam"), CAMERA)), "k": np.zeros(9)})
    with pytest.raises(ContractError, match="/cam/camera_info: its K is 0"):
        camera_of_info(message, "/cam/camera_info")
    message = SimpleNamespace(**{**vars_of(info_message(CLASSES, header(0, "cam"), CAMERA)), "p": np.zeros(12)})
    assert camera_of_info(message, "/cam/camera_info") == CAMERA
    with pytest.raises(ContractError, match="/cam/camera_info: its P is 0"):
        camera_of_info(message, "/cam/camera_info", rectified=True)


def vars_of(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__dataclass_fields__ if not name.startswith("__")}
