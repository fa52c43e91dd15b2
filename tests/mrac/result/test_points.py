import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, ContractError, MetricDepth
from mrac.camera import Camera
from mrac.clouds import PointCloud

H, W = 12, 16
IMAGE = np.random.default_rng(0).integers(0, 256, (H, W, 3)).astype(np.uint8)
CAMERA = Camera(14.0, 15.0, 7.0, 5.0, W, H, "radtan", (0.05, -0.01, 0.001, 0.002))
RESULT: MetricDepth = Calibrator(foundation="none", gate="none")(
    IMAGE, Anchors([[1.0, 1.0], [14.0, 3.0], [5.0, 9.0], [9.0, 6.0]], [1.0, 2.0, 3.0, 2.0])
)


@given(st.integers(1, 7), st.floats(0.01, 3.0))
def test_points_project_to_their_pixels_with_their_colours(stride: int, max_sigma: float) -> None:
    cloud = RESULT.points(CAMERA, IMAGE, max_sigma, stride)
    assert isinstance(cloud, PointCloud)
    assert len(cloud) == cloud.valid.sum() == cloud.sigma_m.size
    assert (cloud.sigma_m <= max_sigma).all()
    v, u = np.nonzero(cloud.valid)
    if not len(cloud):
        return
    np.testing.assert_allclose(CAMERA.project(cloud.xyz_m), np.stack([u, v], axis=1) * stride, atol=1e-5)
    np.testing.assert_array_equal(cloud.rgb, IMAGE[v * stride, u * stride])
    np.testing.assert_allclose(cloud.xyz_m[:, 2], RESULT.depth_m[v * stride, u * stride])
    np.testing.assert_array_equal(cloud.sigma_m, RESULT.sigma_m[v * stride, u * stride])


def test_without_a_limit_every_pixel_has_a_point() -> None:
    cloud = RESULT.points(CAMERA)
    assert cloud.valid.shape == (H, W)
    assert cloud.valid.all()
    assert cloud.rgb is None


def test_a_pixel_to_which_no_ray_leads_has_none() -> None:
    # Strong barrel distortion: the image of the whole half-space ends inside the picture.
    bent = Camera(6.0, 6.0, 7.5, 5.5, W, H, "radtan", (-0.3, 0.0, 0.0, 0.0))
    cloud = RESULT.points(bent, IMAGE)
    assert not cloud.valid[0, 0]
    assert cloud.valid[5, 7]
    assert np.isfinite(cloud.xyz_m).all()


def test_a_camera_of_another_size_is_resized() -> None:
    np.testing.assert_allclose(RESULT.points(CAMERA.resized(4 * W, 4 * H)).xyz_m, RESULT.points(CAMERA).xyz_m)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stride": 0}, "stride=0"),
        ({"max_sigma": 0.0}, "max_sigma=0.0"),
        ({"max_sigma": float("nan")}, "max_sigma=nan"),
        ({"image": IMAGE[1:]}, "image is uint8"),
    ],
)
def test_impossible_numbers_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(ContractError, match=says):
        RESULT.points(CAMERA, **options)  # type: ignore[arg-type]
