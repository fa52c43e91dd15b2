import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mrac import ContractError
from mrac.anchors.depth_map import from_depth_map
from mrac.anchors.registration import hidden, register
from mrac.camera import Camera, Pose
from mrac.units import DEPTH_SCALES

DATA = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))
CAMERA = Camera(50.0, 50.0, 31.5, 23.5, 64, 48)


def shifted(x_m: float) -> Pose:
    matrix = np.eye(4)
    matrix[0, 3] = x_m
    return Pose(matrix)


@pytest.mark.parametrize("name", DEPTH_SCALES)
def test_scales_by_name(name: str) -> None:
    out = from_depth_map(np.array([[0, 2 * DEPTH_SCALES[name]]]).astype(np.uint16), scale=name)
    np.testing.assert_array_equal(out.uv_px, [[1, 0]])
    np.testing.assert_allclose(out.z_m, [2.0])


def test_what_is_no_reading_is_left_out() -> None:
    out = from_depth_map(np.array([[np.nan, np.inf, 0.0, -1.0, 3.0]]))
    np.testing.assert_array_equal(out.uv_px, [[4, 0]])
    assert out.confidence is None
    assert out.flag is None


def test_whole_numbers_need_a_scale() -> None:
    with pytest.raises(ContractError, match="does not state its scale"):
        from_depth_map(np.ones((2, 2), np.uint16))
    with pytest.raises(ContractError, match="'inch' arrived"):
        from_depth_map(np.ones((2, 2), np.uint16), scale="inch")


def test_of_another_size_with_the_same_view_keeps_its_place() -> None:
    out = from_depth_map(np.ones((2, 3)), image_size=(6, 8))
    np.testing.assert_allclose(out.uv_px[0], [0.5, 1.5])  # the first pixel covers pixels 0, 1 and rows 0 to 3
    np.testing.assert_allclose(out.uv_px[-1], [4.5, 5.5])


@given(st.integers(1, 40), st.integers(1, 30), st.floats(0.01, 1.0), st.integers(1, 60), st.integers(1, 5))
def test_subset_is_spread_and_no_larger_than_asked(h: int, w: int, share: float, most: int, stride: int) -> None:
    depth = np.where(np.random.default_rng(h * w).random((h, w)) < share, 2.0, np.nan)
    every = from_depth_map(depth)
    some = from_depth_map(depth, max_anchors=most, stride=stride)
    assert min(len(every), 1) <= len(some) <= most
    assert {tuple(p) for p in some.uv_px} <= {tuple(p) for p in every.uv_px}
    by_stride = from_depth_map(depth, stride=stride)
    assert len(np.unique(by_stride.uv_px // stride, axis=0)) == len(by_stride)


def test_the_surest_of_a_square_is_taken() -> None:
    levels = np.zeros((4, 4), np.uint8)
    levels[0, 3], levels[2:, :2] = 2, 1
    out = from_depth_map(np.ones((4, 4)), confidence=levels, stride=4)
    np.testing.assert_array_equal(out.uv_px, [[3, 0]])
    assert out.confidence is not None
    np.testing.assert_allclose(out.confidence, [0.95])


def test_confidence_by_its_meaning() -> None:
    depth = np.ones((1, 3))

    def of(values: object, **more: object) -> list[float]:
        found = from_depth_map(depth, confidence=np.array([values]), **more).confidence  # type: ignore[arg-type]
        assert found is not None
        return [round(float(c), 3) for c in found]

    assert of([0, 1, 2]) == [0.2, 0.6, 0.95]
    assert of([0, 51, 255]) == [0.0, 0.2, 1.0]
    assert of([0.0, 0.5, 1.0]) == [0.0, 0.5, 1.0]
    assert of([0, 1, 1], confidence_levels=(0.1, 0.9)) == [0.1, 0.9, 0.9]
    assert of([10.0, 100.0, 1000.0], confidence_levels="amplitude") == [0.5, 0.909, 0.99]
    with pytest.raises(ContractError, match="probabilities from 0 to 1"):
        of([0.0, 3.0, 1.0])
    with pytest.raises(ContractError, match="levels 0 to 1"):
        of([0, 1, 2], confidence_levels=(0.1, 0.9))
    with pytest.raises(ContractError, match="the same is needed"):
        from_depth_map(depth, confidence=np.zeros((2, 3)))


def test_registration_of_the_same_camera_changes_nothing() -> None:
    depth = np.random.default_rng(0).uniform(1.0, 1.1, (48, 64))
    out = from_depth_map(depth, camera=CAMERA, depth_camera=CAMERA)
    plain = from_depth_map(depth)
    np.testing.assert_allclose(out.uv_px, plain.uv_px, atol=1e-9)
    np.testing.assert_allclose(out.z_m, plain.z_m)
    assert out.flag is not None
    assert not out.flag.any()


def test_registration_to_a_larger_image_equals_resizing() -> None:
    depth = np.full((48, 64), 2.0)
    out = from_depth_map(depth, camera=CAMERA.resized(128, 96), depth_camera=CAMERA)
    np.testing.assert_allclose(out.uv_px, from_depth_map(depth, image_size=(128, 96)).uv_px, atol=1e-9)


def test_what_the_other_camera_sees_past_an_edge_is_occluded() -> None:
    depth = np.full((48, 64), 4.0)
    depth[:, 20:40] = 1.0
    out = from_depth_map(depth, camera=CAMERA, depth_camera=CAMERA, pose=shifted(0.2))
    assert out.flag is not None
    near, far = out.z_m < 2.0, out.z_m > 2.0
    assert not (out.flag[near] == "occluded").any()
    # The box moves 10 px and the wall 2.5: its columns 40 to 47 at the right of the box are behind it now.
    covered = far & (out.uv_px[:, 0] > 31.0) & (out.uv_px[:, 0] < 48.0)
    assert (out.flag[covered] == "occluded").mean() > 0.95
    clear = far & ((out.uv_px[:, 0] < 27.0) | (out.uv_px[:, 0] > 52.0))
    assert not (out.flag[clear] == "occluded").any()


def test_behind_the_camera_is_nowhere_and_hides_nothing() -> None:
    turned = np.diag([-1.0, 1.0, -1.0, 1.0])
    found = register(np.array([[31.5, 23.5]]), np.array([2.0]), CAMERA, CAMERA, Pose(turned))
    assert np.isnan(found.uv_px).all()
    assert not found.hidden.any()
    assert not hidden(np.full((3, 2), np.nan), np.ones(3), 4.0).any()


def test_sizes_that_contradict_each_other() -> None:
    with pytest.raises(ContractError, match="without camera"):
        from_depth_map(np.ones((48, 64)), depth_camera=CAMERA)
    with pytest.raises(ContractError, match=r"resized\(32, 24\)"):
        from_depth_map(np.ones((24, 32)), depth_camera=CAMERA, camera=CAMERA)


def test_files(tmp_path: Path) -> None:
    depth = np.array([[0.0, 1.5], [2.5, 0.0]], np.float32)
    np.save(tmp_path / "a.npy", depth)
    Image.fromarray(depth).save(tmp_path / "a.tiff")
    Image.fromarray((depth * 5000).astype(np.uint16)).save(tmp_path / "a.png")
    for name, scale in (("a.npy", None), ("a.tiff", None), ("a.png", "tum")):
        np.testing.assert_allclose(from_depth_map(tmp_path / name, scale=scale).z_m, [1.5, 2.5])


def test_a_real_frame_of_tum_by_name() -> None:
    manifest = DATA / "eval" / "manifest.csv"
    if not manifest.is_file():
        pytest.skip("no data pack")
    with manifest.open(newline="") as file:
        row = next(r for r in csv.DictReader(file) if r["set"] == "tum")
    out = from_depth_map(DATA / "eval" / row["gt"], scale="tum", max_anchors=500)
    assert 300 < len(out) <= 500
    assert 0.3 < np.median(out.z_m) < 5.0
    assert (np.ptp(out.uv_px, axis=0) > [500, 380]).all()
