"""Rigid motions: against scipy, and by properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from mrac.camera import Pose
from mrac.conventions import FloatArray
from mrac.errors import ContractError

NUMBERS = st.floats(-1, 1).filter(lambda x: abs(x) > 1e-3)
QUATERNIONS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
POINTS = np.array([[1.0, 2.0, 3.0], [-4.0, 0.5, 0.0]])


@settings(deadline=None)
@given(q=QUATERNIONS, t=st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_the_inverse_leads_back(q: tuple[float, ...], t: tuple[float, ...]) -> None:
    pose = Pose.from_quaternion(q, t)
    np.testing.assert_allclose(pose.inverse().apply(pose.apply(POINTS)), POINTS, atol=1e-12)
    np.testing.assert_allclose((pose @ pose.inverse()).matrix, np.eye(4), atol=1e-12)


@settings(deadline=None)
@given(a=QUATERNIONS, b=QUATERNIONS)
def test_a_product_applies_the_right_one_first(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    one, other = Pose.from_quaternion(a, (1, 2, 3)), Pose.from_quaternion(b, (-1, 0, 5))
    np.testing.assert_allclose((one @ other).apply(POINTS), one.apply(other.apply(POINTS)), atol=1e-12)


@settings(deadline=None)
@given(q=QUATERNIONS)
def test_a_quaternion_is_scipys(q: tuple[float, ...]) -> None:
    np.testing.assert_allclose(Pose.from_quaternion(q).matrix[:3, :3], Rotation.from_quat(q).as_matrix(), atol=1e-12)


def test_a_quarter_turn_about_z_and_a_shift() -> None:
    pose = Pose.from_quaternion([0, 0, 1, 1], [10, 0, 0])
    np.testing.assert_allclose(pose.apply([[1, 0, 0]]), [[10, 1, 0]], atol=1e-12)


def test_the_identity_changes_nothing_and_missing_points_stay_missing() -> None:
    points = np.array([[1.0, 2.0, 3.0], [np.nan, 0, 0]])
    np.testing.assert_array_equal(Pose.identity().apply(points), np.where(np.isnan(points[:, :1]), np.nan, points))
    assert not np.isfinite(Pose.identity().apply([[np.inf, 0, 0]])).all()


def test_the_way_back_of_a_rounded_rotation_is_exact() -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = np.round(Pose.from_quaternion([0.1, 0.5, -0.3, 0.8]).matrix[:3, :3], 3)
    np.testing.assert_allclose(Pose(matrix).inverse().apply(Pose(matrix).apply(POINTS)), POINTS, atol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(3), r"shape \(4, 4\) is needed, shape \(3, 3\) arrived"),
        (np.full((4, 4), np.nan), "NaN or infinity arrived"),
        (2 * np.eye(4), r"last row is \[0.0, 0.0, 0.0, 2.0\], 0 0 0 1 is needed"),
        (np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [5, 0, 0, 1]]), "looks transposed"),
        (np.diag([1000.0, 1000, 1000, 1]), "no rotation"),
        (np.diag([1.0, 1, -1, 1]), "a mirroring"),
    ],
)
def test_what_is_no_rigid_motion_is_refused(matrix: FloatArray, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Pose(matrix)


def test_a_quaternion_of_length_zero_is_refused() -> None:
    with pytest.raises(ContractError, match=r"q_xyzw \[0.0, 0.0, 0.0, 0.0\] arrived"):
        Pose.from_quaternion([0, 0, 0, 0])
