"""Our reading of a real model against COLMAP's own, binary and text."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.anchors.colmap import from_colmap
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.sfm import build_model, file_name, judged, model_scale
from mrac.sfm import SfmModel, read_model

pycolmap = pytest.importorskip("pycolmap")
PACK = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data")) / "more"
pytestmark = pytest.mark.skipif(not (PACK / "manifest.csv").is_file(), reason="no frames to build a model from")
FRAMES = slice(20, 26)  # six frames that overlap


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frames = list(read_manifest(PACK, "redkitchen"))[FRAMES]
    return build_model(
        frames, tmp_path_factory.mktemp("sfm") / "run", "393.75,393.75,240,180", num_features=1500, threads=1
    )


@pytest.fixture(scope="module", params=["binary", "text"])
def written(request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "binary":
        return folder
    text = tmp_path_factory.mktemp("text")
    pycolmap.Reconstruction(folder).write_text(text)
    return text


def test_all_that_colmap_reads_is_read_the_same(written: Path) -> None:
    ours, theirs = read_model(written), pycolmap.Reconstruction(written)
    assert len(ours.points) > 50
    assert set(ours.cameras) == set(theirs.cameras)
    for number, camera in theirs.cameras.items():
        assert (ours.cameras[number].width, ours.cameras[number].height) == (camera.width, camera.height)
        np.testing.assert_allclose(ours.cameras[number].matrix[:2, :2], camera.calibration_matrix()[:2, :2])
        np.testing.assert_allclose(ours.cameras[number].matrix[:2, 2] + 0.5, camera.calibration_matrix()[:2, 2])
    assert set(ours.images) == {number for number, image in theirs.images.items() if image.has_pose}
    for number, image in ours.images.items():
        other = theirs.images[number]
        assert (image.name, image.camera_id) == (other.name, other.camera_id)
        np.testing.assert_allclose(image.camera_from_world.matrix[:3], other.cam_from_world().matrix(), atol=1e-12)
        np.testing.assert_allclose(image.centre, other.projection_center(), atol=1e-9)
        np.testing.assert_allclose(image.uv_px + 0.5, [key.xy for key in other.points2D], atol=1e-9)
        seen = [key.point3D_id if key.has_point3D() else -1 for key in other.points2D]
        assert image.point_id.tolist() == seen
    _check_points(ours, theirs)


def _check_points(ours: SfmModel, theirs: Any) -> None:
    points = ours.points
    assert set(points.point_id.tolist()) == set(theirs.points3D)
    owner, place = points.observations_of(np.arange(len(points)))
    pairs = np.stack([points.track_image_id, points.track_keypoint], axis=1)[place]
    for row, point_id in enumerate(points.point_id.tolist()):
        other = theirs.points3D[point_id]
        np.testing.assert_allclose(points.xyz[row], other.xyz, rtol=1e-12)
        assert points.rgb[row].tolist() == other.color.tolist()
        assert points.error_px[row] == pytest.approx(other.error)
        track = [(element.image_id, element.point2D_idx) for element in other.track.elements]
        assert [tuple(pair) for pair in pairs[owner == row].tolist()] == track


def test_points_project_to_their_keypoints_within_the_stated_error(folder: Path) -> None:
    model = read_model(folder)
    sums, counts = np.zeros(len(model.points)), np.zeros(len(model.points))
    for image in model.images.values():
        uv, row = model.seen_in(image)
        projected = model.cameras[image.camera_id].project(image.camera_from_world.apply(model.points.xyz[row]))
        np.add.at(sums, row, np.linalg.norm(projected - uv, axis=1))
        np.add.at(counts, row, 1.0)
    np.testing.assert_allclose(sums / counts, model.points.error_px, atol=1e-4)


def test_anchors_of_a_real_model_are_mostly_right_and_their_deviation_is_stated_truly(folder: Path) -> None:
    model = read_model(folder)
    frames = {file_name(frame): frame for frame in list(read_manifest(PACK, "redkitchen"))[FRAMES]}
    scale = model_scale(model, frames)
    scores: list[float] = []
    for name in (image.name for image in model.images.values()):
        anchors = from_colmap(model, name, metres_per_unit=scale)
        truth_m = frames[name].depth_m("depth")
        known, wrong = judged(anchors, truth_m)
        assert known.sum() > 20
        assert wrong.sum() < 0.2 * known.sum()
        assert anchors.sigma_m is not None
        u, v = np.rint(anchors.uv_px).astype(int).T
        right = known & ~wrong & (truth_m[v, u] > 0.0)
        scores += np.abs((anchors.z_m - truth_m[v, u]) / anchors.sigma_m)[right].tolist()
    assert 0.3 < np.median(scores) < 1.5  # 0.67 of a normal distribution
