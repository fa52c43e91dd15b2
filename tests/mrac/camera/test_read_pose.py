"""Poses from matrices, quaternions and JSON (KITTI's are in test_kitti.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

from mrac.camera import Pose, read_pose
from mrac.errors import ContractError

POSE = Pose.from_quaternion([0.1, 0.5, -0.3, 0.8], [0.25, -1.5, 3.0])
XYZW = (np.array([0.1, 0.5, -0.3, 0.8]) / np.linalg.norm([0.1, 0.5, -0.3, 0.8])).tolist()
SHIFT = [0.25, -1.5, 3.0]
MATRIX = POSE.matrix.tolist()
ROWS = [" ".join(map(repr, row)) for row in MATRIX]


@pytest.mark.parametrize(
    "text",
    ["\n".join(ROWS), "\n".join(ROWS[:3]), " ".join(ROWS), " ".join(ROWS[:3]),
     "# lidar\n" + "\n".join(ROWS).replace(" ", ", "),
     str(MATRIX)],
    ids=["4×4", "3×4", "16 on a line", "12 on a line", "commas and a comment", "brackets"],
)  # fmt: skip
def test_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pose.txt"
    path.write_text(text + "\n")
    np.testing.assert_array_equal(read_pose(path).matrix, POSE.matrix)


@pytest.mark.parametrize("rows", [3, 4])
def test_npy(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "pose.npy"
    np.save(path, POSE.matrix[:rows])
    np.testing.assert_array_equal(read_pose(path).matrix, POSE.matrix)


@pytest.mark.parametrize(
    "content",
    [
        MATRIX,
        {"matrix": MATRIX},
        {"extrinsic": MATRIX[:3]},
        {"token": "a", "rotation": [XYZW[3], *XYZW[:3]], "translation": SHIFT, "camera_intrinsic": []},
        {"rotation": dict(zip("xyzw", XYZW, strict=True)), "translation": dict(zip("xyz", SHIFT, strict=True))},
        {"rotation": POSE.matrix[:3, :3].tolist(), "translation": SHIFT},
        {"header": {}, "transform": {"translation": SHIFT, "rotation": dict(zip("xyzw", XYZW, strict=True))}},
    ],
    ids=["bare", "matrix", "3×4", "nuScenes", "named parts", "3×3", "TransformStamped"],
)
def test_json(tmp_path: Path, content: object) -> None:
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(content))
    np.testing.assert_allclose(read_pose(path).matrix, POSE.matrix, rtol=0, atol=1e-12)


def test_nuscenes_table_is_chosen_from_by_token(tmp_path: Path) -> None:
    path = tmp_path / "calibrated_sensor.json"
    records = [
        {"token": t, "rotation": [1, 0, 0, 0], "translation": [x, 0, 0]} for t, x in (("lidar", 1), ("front", 2))
    ]
    path.write_text(json.dumps(records))
    camera_from_lidar = read_pose(path, "front").inverse() @ read_pose(path, "lidar")
    np.testing.assert_array_equal(camera_from_lidar.apply([[0, 0, 5]]), [[-1, 0, 5]])
    with pytest.raises(ContractError, match="2 of 2 records have 'rotation', one is needed; give its token"):
        read_pose(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.txt", "1 2 3", r"holds an array of shape \(3,\); 4×4 or 3×4 numbers are needed"),
        ("p.txt", "hello", r"p.txt holds 'hello'; a 4×4 matrix, JSON with rotation and translation, or KITTI's"),
        ("p.txt", "2 0 0 0 0 2 0 0 0 0 2 0", r"p.txt: Pose.matrix: .* no rotation"),
        ("p.json", '{"a": 1}', r"`rotation` and `translation`, or a 4×4 `matrix` is needed; its keys are a"),
        (
            "p.json",
            '{"rotation": [1, 0], "translation": [0, 0, 0]}',
            r"rotation has 2 numbers; a quaternion w, x, y, z",
        ),
        ("p.json", '{"rotation": [1, 0, 0, 0], "translation": [0]}', r"translation x, y, z is needed, \[0\] arrived"),
        (
            "p.json",
            '{"rotation": {"x": 0}, "translation": [0, 0, 0]}',
            r"rotation x, y, z, w is needed, {'x': 0} arrived",
        ),
        ("p.json", '{"rotation": [0, 0, 0, 0], "translation": [0, 0, 0]}', r"p.json: Pose.from_quaternion"),
        ("p.json", '{"matrix": "none"}', r"holds an array of shape \(0,\)"),
    ],
)
def test_what_is_no_pose(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ContractError, match=message) as caught:
        read_pose(path)
    assert name in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("none.txt", "none.npy"):
        with pytest.raises(ContractError, match=f"{name}: no such file"):
            read_pose(tmp_path / name)
