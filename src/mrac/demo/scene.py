"""The Middlebury Motorcycle as scikit-image ships it: a real photograph with measured metric depth."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import MissingExtra
from mrac.lab.outliers import near
from mrac.types import Anchors

# Calibration of the 741×500 images as the dataset states it.
_FOCAL_PX, _BASELINE_M, _OFFSET_PX = 994.978, 0.193001, 31.086


@dataclass(frozen=True, eq=False)
class DemoScene:
    """Everything the demo compares.

    Attributes:
        image: (H, W, 3) uint8.
        truth_m: (H, W) metres, NaN where the dataset has none.
        anchors: the readings, some corrupted.
        wrong: (K,) which readings were corrupted.
    """

    image: ImageArray
    truth_m: FloatArray
    anchors: Anchors
    wrong: BoolArray


def motorcycle(num_anchors: int = 50, wrong_fraction: float = 0.25, seed: int = 0) -> DemoScene:
    """Draws anchors from the measured depth and pulls some of them near, as multipath does.

    Raises:
        MissingExtra: scikit-image, which carries the images, is not installed.
    """
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
    chosen = rng.choice(v.size, num_anchors, replace=False)
    uv_px = np.stack([u[chosen], v[chosen]], axis=1)
    z_m, wrong = near.corrupt(truth_m[v[chosen], u[chosen]], wrong_fraction, rng)
    return DemoScene(image, truth_m, Anchors(uv_px, z_m), wrong)
