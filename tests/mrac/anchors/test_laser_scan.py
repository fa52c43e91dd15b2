import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac.anchors.laser_scan import from_laser_scan, read_scan
from mrac.camera import Camera, Pose
from mrac.errors import ContractError

CAMERA = Camera(300.0, 300.0, 319.5, 239.5, 640, 480)
# The laser 0.2 m under the camera, looking the same way: x forward, y left, z up.
POSE = Pose(np.array([[0, -1, 0, 0], [0, 0, -1, 0.2], [1, 0, 0, 0], [0, 0, 0, 1]]))


def test_a_beam_to_the_left_is_left_in_the_image_and_z_is_not_the_range() -> None:
    anchors = from_laser_scan([2.0, 2.0, 2.0], CAMERA, POSE, angles=[-0.5, 0.0, 0.5], sigma_m=0.02)
    z = 2.0 * np.cos([0.5, 0.0, 0.5])
    np.testing.assert_allclose(anchors.z_m, z)
    np.testing.assert_allclose(anchors.uv_px[:, 0], 319.5 + 300.0 * np.tan([0.5, 0.0, -0.5]))
    np.testing.assert_allclose(anchors.uv_px[:, 1], 239.5 + 300.0 * 0.2 / z)
    np.testing.assert_array_equal(anchors.sigma_m, [0.02] * 3)
    assert anchors.flag is not None
    assert (anchors.flag == "").all()


@given(st.floats(0.5, 30.0), st.floats(-0.7, 0.7))
def test_a_point_measured_is_the_point_seen(range_m: float, angle: float) -> None:
    anchors = from_laser_scan([range_m], CAMERA, POSE, angle_min=angle, angle_increment=0.01)
    point = POSE.apply([[range_m * math.cos(angle), range_m * math.sin(angle), 0.0]])
    if len(anchors):
        np.testing.assert_allclose(CAMERA.unproject(anchors.uv_px, anchors.z_m), point, atol=1e-9)
    else:
        u, v = CAMERA.project(point)[0]
        assert not (0 <= u <= 639 and 0 <= v <= 479)


def test_infinities_and_values_out_of_range_are_flagged_as_rep_117_says() -> None:
    ranges = [np.inf, -np.inf, np.nan, 0.0, 0.05, 12.5, 3.0]
    angles = np.linspace(-0.3, 0.3, 7)
    anchors = from_laser_scan(ranges, CAMERA, POSE, angles=angles, range_min=0.1, range_max=12.0)
    # Beam 4 is so short that 0.2 m lower it is outside the image.
    assert anchors.flag is not None
    assert anchors.flag.tolist() == ["no_return", "too_near", "invalid_range", "no_return", "no_return", ""]
    assert np.isfinite(anchors.uv_px).all()
    np.testing.assert_allclose(anchors.uv_px[:4, 0], 319.5 - 300.0 * np.tan(angles[:4]), atol=1e-4)
    np.testing.assert_array_equal(anchors.z_m[:3], [np.inf, -np.inf, np.nan])
    level = Pose([[0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    short = from_laser_scan([0.05], CAMERA, level, angles=[0.0], range_min=0.1)
    assert short.flag is not None
    assert short.flag.tolist() == ["too_near"]


def test_beams_behind_and_outside_are_left_out() -> None:
    anchors = from_laser_scan(np.full(360, 5.0), CAMERA, POSE, angle_min=-math.pi, angle_increment=math.radians(1))
    half = math.atan(320 / 300)
    assert len(anchors) == sum(abs(math.radians(d)) < half for d in range(-180, 180))


@pytest.mark.parametrize(
    "content",
    [
        {"angle_min": -0.2, "angle_increment": 0.2, "ranges": [1.0, None, 3.0], "range_min": 0.1, "range_max": 8.0},
        {"angles": [-0.2, 0.0, 0.2], "ranges": [1.0, math.nan, 3.0], "range_min": 0.1, "range_max": 8.0},
        {"angles_deg": np.rad2deg([-0.2, 0.0, 0.2]).tolist(), "ranges": [1, None, 3], "range_min": 0.1, "range_max": 8},
    ],
)
def test_a_scan_in_json(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    scan = read_scan(tmp_path / "a.json")
    np.testing.assert_allclose(scan.angles_rad, [-0.2, 0.0, 0.2], atol=1e-12)
    np.testing.assert_array_equal(scan.ranges_m, [1.0, np.nan, 3.0])
    assert (scan.range_min_m, scan.range_max_m) == (0.1, 8.0)
    anchors = from_laser_scan(tmp_path / "a.json", CAMERA, POSE)
    assert anchors.flag is not None
    assert anchors.flag.tolist() == ["", "invalid_range", ""]
    assert from_laser_scan(scan, CAMERA, POSE, range_max=2.0).flag.tolist() == ["", "invalid_range", "no_return"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "angle,range\n-0.5,1.5\n0.25,inf\n",
        "-0.5,1.5\n0.25,inf\n",
        "angle_rad;distance_mm\n-0,5;1500\n0,25;inf\n",
        "Ranges [cm]\tAngles [deg]\n150\t-28.64788975654116\ninf\t14.32394487827058\n",
    ],
)
def test_a_scan_in_a_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    scan = read_scan(tmp_path / "a.csv")
    np.testing.assert_allclose(scan.angles_rad, [-0.5, 0.25])
    np.testing.assert_allclose(scan.ranges_m, [1.5, np.inf])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "not readable as JSON"),
        ("a.json", "[1, 2]", "no scan in JSON"),
        ("a.json", '{"angle_min": 0, "angle_increment": 0.1}', "no 'ranges'"),
        ("a.json", '{"ranges": [1, 2]}', "no 'angle_min'"),
        ("a.json", '{"ranges": [1, 2], "angles": [0]}', r"shape \(2\)"),
        ("a.json", '{"ranges": ["far"], "angles": [0]}', "numbers are needed"),
        ("a.csv", "bearing,range\n1,2\n", "angle and range are needed"),
        ("a.csv", "1\n2\n", "angle and range are needed"),
        ("a.csv", "", "no row of numbers"),
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ContractError, match=message) as caught:
        read_scan(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "angle_min and angle_increment are needed"),
        ({"angle_min": 0.0}, "angle_min and angle_increment are needed"),
        ({"angles": [0.0, 0.1], "angle_min": 0.0}, "angle_min and angle_increment are needed"),
        ({"angles": [0.0]}, r"from_laser_scan: angles: an array of shape \(2\)"),
        ({"angles": [0.0, 0.1], "range_min": 2.0, "range_max": 1.0}, "range_min < range_max"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        from_laser_scan([1.0, 2.0], CAMERA, POSE, **arguments)


def test_a_scan_s_angles_are_not_given_twice(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("angle,range\n0,1\n")
    with pytest.raises(ContractError, match="do not give them again"):
        from_laser_scan(tmp_path / "a.csv", CAMERA, POSE, angle_min=0.0, angle_increment=0.1)
    with pytest.raises(ContractError, match="no such file"):
        read_scan(tmp_path / "b.csv")
