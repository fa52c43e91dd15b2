"""How sure the depth of a triangulated point is: from the baselines of its track and from its reprojection error."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.sfm.model import IntArray, SfmImage, SfmModel


def depth_change_per_px(model: SfmModel, image: SfmImage, row: IntArray) -> FloatArray:
    """By which share of its depth a point moves along an image's ray when its keypoints move by one pixel.

    A step dr along the ray of `image` is seen by camera i, at the distance d_i, under the angle dr · sin(θ_i) / d_i,
    θ_i being the angle between the two rays, that is as f · sin(θ_i) / d_i · dr pixels. Least squares over the track
    then has a deviation of 1 / (f · sqrt(Σ (sin θ_i / d_i)²)) in r for keypoints of one pixel. With d_i ≈ z this is
    the z² / (f · B) of stereo, B² being the sum of the squared baselines across the ray.

    Args:
        model: of which the points are.
        image: that sees them.
        row: (K,) rows of `model.points`.

    Returns:
        (K,) shares; infinite for points without a baseline.
    """
    points = model.points
    xyz = points.xyz[row]
    owner, place = points.observations_of(row)
    centres, focal = _views(model, points.track_image_id[place])
    ray, other = xyz - image.centre, xyz[owner] - centres
    with np.errstate(divide="ignore", invalid="ignore"):
        across = np.linalg.norm(np.cross(other, ray[owner]), axis=1) / np.linalg.norm(ray, axis=1)[owner]
        seen = focal * across / np.sum(other * other, axis=1)  # pixels per unit along the ray
        total = np.bincount(owner, np.nan_to_num(seen, posinf=0.0) ** 2, minlength=row.size)
        return np.asarray(1.0 / (np.sqrt(total) * np.linalg.norm(ray, axis=1)))


def _views(model: SfmModel, image_id: IntArray) -> tuple[FloatArray, FloatArray]:
    """(T, 3) camera centres and (T,) focal lengths in pixels; an image that the model does not hold adds nothing."""
    known = np.array(sorted(model.images), dtype=np.int64)
    images = [model.images[i] for i in known.tolist()]
    cameras = [model.cameras[image.camera_id] for image in images]
    focal = np.array([0.5 * (camera.fx_px + camera.fy_px) for camera in cameras])
    place = np.searchsorted(known, image_id).clip(max=known.size - 1)
    held = known[place] == image_id
    return np.stack([image.centre for image in images])[place], np.where(held, focal[place], 0.0)
