"""The share of depth per pixel, against stereo's formula and against triangulating noisy keypoints."""

from pathlib import Path

import numpy as np
import pytest

from mrac.camera import Camera, Pose
from mrac.conventions import FloatArray
from mrac.sfm import SfmImage, SfmModel, SfmPoints
from mrac.sfm.triangulation import depth_change_per_px

CAMERA = Camera(500.0, 500.0, 319.5, 239.5, 640, 480)


def model_of(centres: FloatArray, xyz: FloatArray) -> SfmModel:
    """Cameras of one orientation that all see all points."""
    num = len(xyz)
    images = {}
    for n, centre in enumerate(centres):
        matrix = np.eye(4)
        matrix[:3, 3] = -np.asarray(centre)
        pose = Pose(matrix)
        images[n] = SfmImage(n, 1, f"{n}.png", pose, CAMERA.project(pose.apply(xyz)), np.arange(num))
    points = SfmPoints(
        point_id=np.arange(num),
        xyz=xyz,
        rgb=np.zeros((num, 3), np.uint8),
        error_px=np.full(num, 0.5),
        track_length=np.full(num, len(centres)),
        track_image_id=np.tile(np.arange(len(centres)), num),
        track_keypoint=np.repeat(np.arange(num), len(centres)),
    )
    return SfmModel(Path("made"), {1: CAMERA}, images, points)


def test_of_two_parallel_cameras_it_is_that_of_stereo() -> None:
    z, baseline = 4.0, 0.1
    model = model_of(np.array([[0.0, 0.0, 0.0], [baseline, 0.0, 0.0]]), np.array([[0.0, 0.0, z]]))
    share = depth_change_per_px(model, model.images[0], np.array([0]))
    assert share[0] == pytest.approx(z / (CAMERA.fx_px * baseline), rel=1e-3)


def test_a_point_without_a_baseline_has_no_depth() -> None:
    model = model_of(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 4.0]]))
    assert depth_change_per_px(model, model.images[0], np.array([0])).tolist() == [np.inf]


def test_observations_in_images_that_are_not_there_add_nothing() -> None:
    xyz = np.array([[0.2, 0.1, 4.0]])
    whole = model_of(np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.4, 0.0]]), xyz)
    pair = model_of(np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]]), xyz)
    del whole.images[2]
    row = np.array([0])
    expected = depth_change_per_px(pair, pair.images[0], row)
    np.testing.assert_allclose(depth_change_per_px(whole, whole.images[0], row), expected)


def test_it_is_the_deviation_of_a_depth_from_noisy_keypoints() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [-0.2, 0.3, 0.2], [0.1, -0.4, -0.1]])
    truth = np.array([0.4, -0.3, 3.0])
    model = model_of(centres, truth[None])
    sigma_px = 0.1
    depths = []
    for _ in range(800):
        a, b = np.zeros((3, 3)), np.zeros(3)
        for image in model.images.values():
            ray = CAMERA.rays(image.uv_px + rng.normal(0.0, sigma_px, 2))[0]
            across = np.eye(3) - np.outer(ray, ray) / (ray @ ray)
            a += across
            b += across @ image.centre
        depths.append(np.linalg.solve(a, b)[2])
    share = depth_change_per_px(model, model.images[0], np.array([0]))[0]
    assert np.std(depths) / truth[2] == pytest.approx(share * sigma_px, rel=0.25)
