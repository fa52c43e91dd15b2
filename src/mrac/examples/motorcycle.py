"""The Middlebury 2014 Motorcycle as scikit-image ships it: a real photograph with measured metric depth."""

from typing import Final

import numpy as np

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.errors import ContractError, MissingExtra
from mrac.examples.example import Example
from mrac.outliers import Truth
from mrac.outliers.near import Near

# Calibration of the 741×500 images as the dataset states it.
_FOCAL_PX, _BASELINE_M, _OFFSET_PX = 994.978, 0.193001, 31.086
_CENTRE_PX = (311.193, 254.877)
_RANGE_M: Final = 10.0  # of an indoor sensor
_LICENCE: Final = (
    "Middlebury 2014 Motorcycle, by D. Scharstein and others (GCPR 2014), as shipped inside scikit-image; not part of "
    "this package: the licence of that data set holds"
)


def motorcycle(num_anchors: int = 50, wrong_fraction: float = 0.25, seed: int = 0) -> Example:
    """Draws anchors from the measured depth and moves some of them towards the camera, as multipath does.

    Args:
        num_anchors: K, all at different pixels.
        wrong_fraction: in [0, 1]; round(wrong_fraction · K) anchors become outliers.
        seed: of the draw.

    Raises:
        ContractError: the fraction is not in [0, 1], or fewer pixels than `num_anchors` have a depth.
        MissingExtra: scikit-image, which carries the images, is not installed.
    """
    if not 0.0 <= wrong_fraction <= 1.0:
        raise ContractError(f"demo: wrong_fraction = {wrong_fraction!r}; a number from 0 to 1 is needed")
    try:
        from skimage.data import stereo_motorcycle  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("demo", "demo") from None
    image, _, true_disparity = stereo_motorcycle()  # type: ignore[no-untyped-call]
    truth_m = np.where(
        np.isfinite(true_disparity), _FOCAL_PX * _BASELINE_M / (true_disparity + _OFFSET_PX), np.nan
    ).astype(np.float32)
    rng = np.random.default_rng(seed)
    v, u = np.nonzero(np.isfinite(truth_m))
    if not 0 <= num_anchors <= v.size:
        raise ContractError(f"demo: num_anchors = {num_anchors!r}; a whole number from 0 to {v.size} is needed")
    chosen = rng.choice(v.size, num_anchors, replace=False)
    uv_px = np.stack([u[chosen], v[chosen]], axis=1)
    true = Truth(uv_px=uv_px, z_m=truth_m[v[chosen], u[chosen]], truth_m=truth_m, max_range_m=_RANGE_M)
    z_m, wrong = Near()(true, wrong_fraction, rng)
    H, W = truth_m.shape
    return Example(
        name="motorcycle",
        title="A motorcycle in a workshop: a photograph with measured depth",
        image=image,
        anchors=Anchors(uv_px, z_m),
        wrong=wrong,
        fault="too near by multipath: depth times 0.2 to 0.6",
        depth_m=truth_m,
        camera=Camera(_FOCAL_PX, _FOCAL_PX, *_CENTRE_PX, W, H),
        licence=_LICENCE,
    )
