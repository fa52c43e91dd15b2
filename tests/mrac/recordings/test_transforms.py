"""The tree of transforms, against scipy and matrices multiplied by hand."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mrac.camera import Pose
from mrac.errors import ContractError
from mrac.recordings.transforms import TransformTree
from tests.mrac.recordings.bags import at, transform


def pose(degrees: tuple[float, float, float], shift: tuple[float, float, float]) -> Pose:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("xyz", degrees, degrees=True).as_matrix()
    matrix[:3, 3] = shift
    return Pose(matrix)


BASE_FROM_CAMERA = pose((-90, 0, -90), (0.3, 0.0, 1.2))
BASE_FROM_LIDAR = pose((0, 3, 40), (0.1, 0.2, 1.6))


def test_a_chain_of_static_transforms_both_ways() -> None:
    tree = TransformTree()
    tree.add(transform(0, "base", "camera", BASE_FROM_CAMERA), static=True)
    tree.add(transform(0, "/base", "/lidar", BASE_FROM_LIDAR), static=True)
    expected = np.linalg.inv(BASE_FROM_CAMERA.matrix) @ BASE_FROM_LIDAR.matrix
    np.testing.assert_allclose(tree.pose("camera", "lidar", at(3)).matrix, expected, atol=1e-12)
    np.testing.assert_allclose(tree.pose("lidar", "/camera", 0).matrix, np.linalg.inv(expected), atol=1e-12)
    np.testing.assert_array_equal(tree.pose("camera", "camera", 0).matrix, np.eye(4))


def test_between_two_stamps_it_is_interpolated_whatever_their_order() -> None:
    first, last = pose((0, 0, 10), (0, 0, 0)), pose((0, 0, 70), (4, 0, 2))
    tree = TransformTree()
    for t, one in ((2, last), (1, first)):
        tree.add(transform(at(t), "odom", "base", one), static=False)
    expected = pose((0, 0, 25), (1, 0, 0.5))
    np.testing.assert_allclose(tree.pose("odom", "base", at(1.25)).matrix, expected.matrix, atol=1e-12)
    np.testing.assert_allclose(tree.pose("odom", "base", at(1)).matrix, first.matrix, atol=1e-12)
    np.testing.assert_allclose(tree.pose("odom", "base", at(2)).matrix, last.matrix, atol=1e-12)


def test_beyond_its_stamps_a_transform_holds_for_the_tolerance_alone() -> None:
    tree = TransformTree()
    for t in (1, 2):
        tree.add(transform(at(t), "odom", "base", pose((0, 0, 0), (t, 0, 0))), static=False)
    assert tree.pose("odom", "base", at(2.05), 100_000_000).matrix[0, 3] == 2.0
    assert tree.pose("odom", "base", at(0.95), 100_000_000).matrix[0, 3] == 1.0
    with pytest.raises(ContractError, match=r"odom → base is asked for 0\.500 s after its last stamp"):
        tree.pose("odom", "base", at(2.5), 100_000_000)
    with pytest.raises(ContractError, match=r"0\.200 s before its first"):
        tree.pose("odom", "base", at(0.8), 100_000_000)


def test_frames_that_are_not_connected_are_named() -> None:
    tree = TransformTree()
    tree.add(transform(0, "base", "camera", BASE_FROM_CAMERA), static=True)
    tree.add(transform(0, "world", "lidar", BASE_FROM_LIDAR), static=True)
    with pytest.raises(ContractError, match=r"'lidar' to 'camera'; .* base, camera, lidar, world.*--pose"):
        tree.pose("camera", "lidar", 0)


def test_one_transform_without_a_rotation_is_ignored_and_no_other_of_its_message() -> None:
    nan = transform(0, "base", "imu", BASE_FROM_CAMERA)
    nan.transforms[0].transform.translation.x = float("nan")
    for static in (True, False):
        tree, message = TransformTree(), transform(0, "base", "gps", BASE_FROM_CAMERA)
        message.transforms[0].transform.rotation.w = 0.0
        message.transforms[0].transform.rotation.x = 0.0
        message.transforms[0].transform.rotation.y = 0.0
        message.transforms[0].transform.rotation.z = 0.0
        message.transforms += nan.transforms + transform(0, "base", "lidar", BASE_FROM_LIDAR).transforms
        tree.add(message, static=static)
        np.testing.assert_allclose(tree.pose("base", "lidar", 0).matrix, BASE_FROM_LIDAR.matrix, atol=1e-12)
        assert tree.refused == {("base", "gps"): 1, ("base", "imu"): 1}
        assert tree.frames == ["base", "lidar"]


def test_a_transform_without_a_rotation_among_good_ones_changes_none_between() -> None:
    tree = TransformTree()
    for t in (0, 1, 2):
        message = transform(at(t), "odom", "base", pose((0, 0, 0), (t, 0, 0)))
        if t == 1:
            message.transforms[0].transform.rotation.w = 0.0
        tree.add(message, static=False)
    assert tree.pose("odom", "base", at(1.5)).matrix[0, 3] == pytest.approx(1.5)
