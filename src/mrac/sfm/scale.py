"""The metric scale of a model, which structure from motion alone cannot know."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from mrac.conventions import frozen_numbers
from mrac.errors import ContractError
from mrac.sfm.model import SfmModel

_LEAST_PAIRS: Final = 5  # of which the median still stands when two are wrong


def scale_from(
    model: SfmModel, image_name: str, uv_px: ArrayLike, z_m: ArrayLike, *, max_distance_px: float = 5.0
) -> float:
    """Metres per unit of a model, from metric depths in one of its images.

    Each point that the image sees is compared with the nearest reading; the scale is the median of the ratios, so
    that up to half of the pairs may be wrong. Of several images, take the median again.

    Args:
        model: as `read_model` gives it.
        image_name: the image that the readings are of.
        uv_px: (K, 2) their pixels in that image; pixel centres at integers.
        z_m: (K,) their depths along the axis in metres; those that are not finite or not > 0 are left out.
        max_distance_px: a point whose nearest reading is farther than this is left out.

    Raises:
        ContractError: fewer than 5 points of the model lie near a reading.
    """
    image = model.image(image_name)
    uv, row = model.seen_in(image)
    z = image.camera_from_world.apply(model.points.xyz[row])[:, 2]
    metric = frozen_numbers(z_m, "sfm.scale_from: z_m", (None,))
    place = frozen_numbers(uv_px, "sfm.scale_from: uv_px", (metric.size, 2))
    valid = np.isfinite(metric) & (metric > 0.0) & np.isfinite(place).all(axis=1)
    num_pairs = 0
    if valid.any() and z.size:
        distance, nearest = KDTree(place[valid]).query(uv)
        pairs = (distance <= max_distance_px) & (z > 0.0)
        num_pairs = int(pairs.sum())
    if num_pairs < _LEAST_PAIRS:
        raise ContractError(
            f"sfm.scale_from: {num_pairs} points of {image.name!r} lie within {max_distance_px:g} px of a reading, "
            f"{_LEAST_PAIRS} are needed; give more readings, or a larger max_distance_px"
        )
    return float(np.median(metric[valid][nearest[pairs]] / z[pairs]))
