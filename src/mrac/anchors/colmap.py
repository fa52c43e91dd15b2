"""Anchors from a model of structure from motion: the points that one of its images sees."""

from pathlib import Path
from typing import Final

import numpy as np

from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.camera import Camera
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.sfm import SfmModel, read_model
from mrac.sfm.model import IntArray
from mrac.sfm.triangulation import depth_change_per_px
from mrac.space import SIGMA_SHARE

# Fitted to one COLMAP model each of RedKitchen (40 frames) and KITTI-seq (16 frames, intrinsics given) against their
# depth, with equal weight: the noise as a normal distribution mixed with outliers, the log-odds of a depth that is more
# than 10 % wrong by logistic regression. Models were chosen by hand: KITTI-seq's is the only one of four runs with
# fewer than half of its points wrong (37 %; the others about 85 %), and three of HoloLens, 67 to 86 % wrong, were left
# out. The constant of the log-odds is RedKitchen's, where 4 % are wrong; KITTI-seq's is -2.1, but what a scene is like
# the gate finds from the readings, not their reader.
_SHARE: Final = 0.013  # of depth: what calibration and poses leave
_PX_PER_ERROR: Final = 4.1  # errors of a track's keypoints are not independent, and the fit has adapted to them
_LOG_ODDS: Final = -5.4
_LOG_ODDS_PER_PX: Final = 2.3
_LOG_ODDS_OF_TWO_VIEWS: Final = 2.3  # with two rays any mismatch along the epipolar line still meets
_USUAL_ERROR_PX: Final = 0.55  # the median of these models, for points whose error COLMAP did not compute (-1)


def from_colmap(
    model: Path | str | SfmModel,
    image_name: str,
    *,
    metres_per_unit: float | None = None,
    camera: Camera | None = None,
    min_track: int = 2,
    max_error_px: float | None = None,
) -> Anchors:
    """The points of a COLMAP or hloc model that one image sees, at its keypoints.

    Depth is along the axis of the image's camera. `sigma_m` is z · sqrt(0.013² + (4.1 · error_px · s)²), s being the
    share of its depth by which a point moves per pixel, from its track, baselines and focal length
    (`sfm.triangulation.depth_change_per_px`). `confidence` is lower for large reprojection errors and for points that
    only two images see: 1 / (1 + exp(-5.4 + 2.3 · error_px + 2.3 · [track = 2])).

    Args:
        model: a folder with cameras, images and points3D (`.bin` or `.txt`), or what `sfm.read_model` gave for it.
        image_name: of the image in the model; the end of its path is enough where only one fits.
        metres_per_unit: the scale of the model; 1.0 if it is metric. See `sfm.scale_from`.
        camera: of the picture that is to be calibrated, where it is a resized or undistorted copy of the image that the
            model was built from; positions are those of its pixels. None: it is that image.
        min_track: points seen by fewer images are flagged `short_track` and not used.
        max_error_px: points of a larger mean reprojection error are flagged `large_error`; None flags none.

    Raises:
        ContractError: the model is broken, has no such image, or its scale is not given.
    """
    if metres_per_unit is None or not (np.isfinite(metres_per_unit) and metres_per_unit > 0.0):
        raise ContractError(
            f"anchors/colmap: metres_per_unit = {metres_per_unit} arrived, a number > 0 is needed: structure from "
            "motion does not know its scale. Give metres_per_unit=1.0 if the model is metric (--metres-per-unit 1), "
            "else measure it with mrac.sfm.scale_from(read_model(folder), image_name, uv_px, z_m)"
        )
    model = model if isinstance(model, SfmModel) else read_model(model)
    image = model.image(image_name)
    uv, row = model.seen_in(image)
    if camera is not None:
        uv = camera.project(model.cameras[image.camera_id].rays(uv))
    z_m = image.camera_from_world.apply(model.points.xyz[row])[:, 2] * metres_per_unit
    track, error_px = model.points.track_length[row], model.points.error_px[row]
    error_px = np.where(error_px >= 0.0, error_px, _USUAL_ERROR_PX)
    share = _sigma_share(depth_change_per_px(model, image, row), error_px)
    flag = np.where(track < min_track, "short_track", UNFLAGGED)
    if max_error_px is not None:
        flag = np.where((error_px > max_error_px) & (flag == UNFLAGGED), "large_error", flag)
    return Anchors(uv, z_m, np.abs(z_m) * share, confidence=_confidence(track, error_px), flag=flag)


def _sigma_share(change_per_px: FloatArray, error_px: FloatArray) -> FloatArray:
    """(K,) deviation of each depth as a share of it."""
    with np.errstate(invalid="ignore"):  # no baseline (infinite) and no error (0)
        share = np.hypot(_SHARE, _PX_PER_ERROR * error_px * change_per_px)
    return np.asarray(np.clip(np.nan_to_num(share, nan=np.inf), *SIGMA_SHARE))


def _confidence(track: IntArray, error_px: FloatArray) -> FloatArray:
    """(K,) probability that each depth is right to 10 %."""
    wrong = _LOG_ODDS + _LOG_ODDS_PER_PX * error_px + _LOG_ODDS_OF_TWO_VIEWS * (track <= 2)
    return np.asarray(np.exp(-np.logaddexp(0.0, wrong)))
