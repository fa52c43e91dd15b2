"""Projection, its inverse and resizing: against OpenCV, and by properties."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mrac.camera import Camera
from mrac.camera.distortion import lens
from mrac.conventions import FloatArray
from mrac.errors import ContractError

SIZE = (640, 480)
POINTS = [[0.3, -0.2, 1.0], [-1.1, 0.7, 2.0], [0.05, 0.4, 0.8]]
# What cv2.projectPoints and cv2.fisheye.projectPoints (5.0.0) give for POINTS.
BY_OPENCV = {
    ("radtan", (-0.28, 0.07, 0.0012, -0.0003)): [
        (464.88570937, 143.73177033999997),
        (73.91478623124996, 395.95138610624997),
        (349.38508764179227, 472.6092966000366),
    ],
    ("radtan", (-0.3, 0.1, 0.001, -0.002, 0.01)): [
        (464.32321757729994, 144.01877854859998),
        (73.7139040554687, 395.8073067898437),
        (349.0630465883188, 471.7390046417773),
    ],
    ("rational", (0.5, -0.2, 0.001, -0.0005, 0.03, 0.8, -0.1, 0.05)): [
        (464.60665645932204, 143.89540321608592),
        (75.11490723585183, 395.12174988168556),
        (349.2686809465327, 471.85919708097265),
    ],
    ("fisheye", (-0.01, 0.02, -0.005, 0.001)): [
        (464.1182111560033, 144.17643283789025),
        (76.66495583733612, 393.99535705521413),
        (349.12728537879246, 470.10065316292673),
    ],
}
LENSES = [("pinhole", ()), *BY_OPENCV]


def camera(model: str = "pinhole", distortion: tuple[float, ...] = ()) -> Camera:
    return Camera(500.3, 498.1, 320.2, 239.7, *SIZE, model, distortion)


def pixels(step: int = 8) -> FloatArray:
    """Positions all over the image, its corners among them."""
    u, v = np.meshgrid(np.arange(-0.5, SIZE[0], step), np.arange(-0.5, SIZE[1], step))
    return np.stack([u.ravel(), v.ravel()], axis=1)


@pytest.mark.parametrize(("model", "distortion"), BY_OPENCV)
def test_a_projection_is_that_of_opencv(model: str, distortion: tuple[float, ...]) -> None:
    np.testing.assert_allclose(
        camera(model, distortion).project(POINTS), BY_OPENCV[model, distortion], rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("model", "distortion"), BY_OPENCV)
def test_projection_and_undistortion_agree_with_opencv_over_the_view(model: str, distortion: tuple[float, ...]) -> None:
    cv2 = pytest.importorskip("cv2")
    lens_camera = camera(model, distortion)
    rng = np.random.default_rng(0)
    points = np.append(rng.uniform(-0.6, 0.6, (500, 2)), np.ones((500, 1)), axis=1) * rng.uniform(0.5, 30, (500, 1))
    module = cv2.fisheye if model == "fisheye" else cv2
    seen, _ = module.projectPoints(points[:, None], np.zeros(3), np.zeros(3), lens_camera.matrix, np.array(distortion))
    np.testing.assert_allclose(lens_camera.project(points), seen.reshape(-1, 2), rtol=0, atol=1e-9)

    inside = lens_camera.project(points)[:50]
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 500, 1e-12)
    back = module.undistortPoints(inside[:, None], lens_camera.matrix, np.array(distortion), criteria=criteria)
    np.testing.assert_allclose(lens_camera.rays(inside)[:, :2], back.reshape(-1, 2), rtol=0, atol=1e-7)


@pytest.mark.parametrize(("model", "distortion"), LENSES)
def test_the_ray_of_every_pixel_leads_back_to_it(model: str, distortion: tuple[float, ...]) -> None:
    lens_camera = camera(model, distortion)
    uv = pixels()
    rays = lens_camera.rays(uv)
    found = ~np.isnan(rays[:, 0])
    assert found.mean() > 0.99
    assert (rays[found, 2] == 1).all()
    np.testing.assert_allclose(lens_camera.project(7.3 * rays[found]), uv[found], rtol=0, atol=1e-6)


@example(k1=-0.25, k2=5e-23, p=(0.0, 0.0), k3=0.0, xy=(0.0, 1.0), z=1.0)  # bends back at 1.15, however small k2 is
@settings(max_examples=60, deadline=None)
@given(
    k1=st.floats(-0.45, 0.45),
    k2=st.floats(-0.2, 0.2),
    p=st.tuples(st.floats(-3e-3, 3e-3), st.floats(-3e-3, 3e-3)),
    k3=st.floats(-0.05, 0.05),
    xy=st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    z=st.floats(0.1, 200),
)
def test_a_point_that_is_seen_is_found_again(
    k1: float, k2: float, p: tuple[float, float], k3: float, xy: tuple[float, float], z: float
) -> None:
    lens_camera = camera("radtan", (k1, k2, *p, k3))
    bent = lens("radtan", lens_camera.distortion)
    assert bent is not None
    if np.hypot(*xy) > 0.9 * bent.limit:  # nearer the limit the tangential part may make two points look the same
        return
    point = z * np.array([[*xy, 1.0]])
    uv = lens_camera.project(point)
    np.testing.assert_allclose(lens_camera.unproject(uv, [z]), point, rtol=1e-6, atol=1e-7 * z)


@settings(max_examples=60, deadline=None)
@given(
    k=st.tuples(*[st.floats(-0.1, 0.1)] * 4),
    angle=st.floats(0, 1.5),
    turn=st.floats(0, 6.3),
    range_m=st.floats(0.1, 90),
)
def test_a_fisheye_point_is_found_again_by_its_range(
    k: tuple[float, float, float, float], angle: float, turn: float, range_m: float
) -> None:
    lens_camera = camera("fisheye", k)
    bent = lens("fisheye", k)
    assert bent is not None
    way = [np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)]
    uv = lens_camera.project([way])
    if angle >= bent.limit:
        assert np.isnan(uv).all()
    elif angle < 0.99 * bent.limit:
        np.testing.assert_allclose(lens_camera.range_to_z(uv, [range_m]), [range_m * way[2]], rtol=1e-6)


def test_points_behind_and_broken_ones_are_nan() -> None:
    points = np.array([[0, 0, -1], [1, 1, 0], [np.nan, 0, 1], [np.inf, 0, 1], [0, 0, 1]])
    for model, distortion in LENSES:
        seen = camera(model, distortion).project(points)
        assert np.isnan(seen).tolist() == [[True, True]] * 4 + [[False, False]], model
        rays = camera(model, distortion).rays([[np.nan, 1.0], [1.0, np.inf], [1.0, 1.0]])
        assert np.isnan(rays).tolist() == [[True] * 3] * 2 + [[False] * 3], model


def test_points_far_outside_the_view_do_not_fold_back_into_the_image() -> None:
    barrel = camera("radtan", (-0.3, 0.0, 0.0, 0.0))
    limit = np.sqrt(1 / 0.9)  # where the slope 1 + 3 k1 r² is 0
    seen = barrel.project([[limit - 1e-6, 0, 1], [limit + 1e-6, 0, 1], [1.8, 0, 1]])
    assert np.isfinite(seen[0]).all()
    assert np.isnan(seen[1:]).all()
    assert 0 < 500.3 * 1.8 * (1 - 0.3 * 1.8**2) + 320.2 < SIZE[0], "the formula alone would put the last one inside"
    farthest = seen[0, 0]
    rays = barrel.rays([[farthest + 1, 239.7], [farthest - 1, 239.7]])
    assert np.isnan(rays[0]).all()
    assert np.isfinite(rays[1]).all()


def test_a_rational_lens_ends_at_the_pole_of_its_quotient() -> None:
    bent = lens("rational", (0.0, 0.0, 0.0, 0.0, 0.0, -0.25, 0.0, 0.0))
    assert bent is not None
    assert bent.limit == pytest.approx(2.0)


def test_the_axis_is_the_principal_point() -> None:
    for model, distortion in LENSES:
        np.testing.assert_allclose(camera(model, distortion).project([[0, 0, 3]]), [[320.2, 239.7]])
        np.testing.assert_allclose(camera(model, distortion).rays([[320.2, 239.7]]), [[0, 0, 1]], atol=1e-12)


def test_no_points_give_no_pixels() -> None:
    for model, distortion in LENSES:
        assert camera(model, distortion).project(np.empty((0, 3))).shape == (0, 2)
        assert camera(model, distortion).rays(np.empty((0, 2))).shape == (0, 3)


@settings(deadline=None)
@given(width=st.integers(1, 4000), height=st.integers(1, 4000))
def test_resizing_keeps_projections_true(width: int, height: int) -> None:
    before = camera("radtan", (-0.28, 0.07, 0.0012, -0.0003))
    after = before.resized(width, height)
    scale = np.array([width / SIZE[0], height / SIZE[1]])
    np.testing.assert_allclose(
        after.project(POINTS), (before.project(POINTS) + 0.5) * scale - 0.5, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(after.resized(*SIZE).matrix, before.matrix, rtol=1e-9, atol=1e-9)


def test_a_range_is_longer_than_z_off_the_axis() -> None:
    np.testing.assert_allclose(
        Camera(100, 100, 50, 50, 101, 101).range_to_z([[50, 50], [150, 50]], [2, 2]), [2, np.sqrt(2)]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 0, 0, 4, 4), r"Camera.fx_px: 0 arrived, a number > 0 is needed, in pixels"),
        ((1, 1, np.nan, 0, 4, 4), r"Camera.cx_px: nan arrived"),
        ((1, "wide", 0, 0, 4, 4), r"Camera.fy_px: wide arrived"),
        ((1, 1, 0, None, 4, 4), r"Camera.cy_px: None arrived"),
        ((1, 1, 0, 0, 0, 4), r"Camera.width: 0 arrived, a whole number > 0 is needed"),
        ((1, 1, 0, 0, 4, 4.5), r"Camera.height: 4.5 arrived"),
        ((1, 1, 0, 0, 4, 4, "kannala"), r"'kannala' arrived, one of pinhole, radtan, rational, fisheye"),
        ((1, 1, 0, 0, 4, 4, "radtan", (0.1,)), r"radtan needs 4 or 5 finite numbers, in OpenCV's order"),
        ((1, 1, 0, 0, 4, 4, "pinhole", (0.1,)), r"pinhole needs 0 finite numbers"),
        ((1, 1, 0, 0, 4, 4, "fisheye", (0, 0, 0, np.inf)), r"fisheye needs 4 finite"),
    ],
)
def test_what_is_no_camera_is_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Camera(*arguments)  # type: ignore[arg-type]


def test_wrong_shapes_and_sizes_are_refused() -> None:
    with pytest.raises(ContractError, match=r"shape \(K, 3\) is needed, shape \(1, 2\) arrived"):
        camera().project([[1, 2]])
    with pytest.raises(ContractError, match=r"shape \(1\) is needed, shape \(2,\) arrived"):
        camera().unproject([[1, 2]], [1, 2])
    with pytest.raises(ContractError, match="0×4 arrived"):
        camera().resized(0, 4)
