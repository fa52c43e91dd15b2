"""Anchors from an .npz file: `uv_px` (K, 2) and `z_m` (K,), optionally `sigma_m` (K,)."""

from pathlib import Path

from mrac.io.files import read_arrays
from mrac.types import Anchors


def read(path: Path, scale: float | None, image_shape: tuple[int, int] | None) -> Anchors:
    """Reads the arrays of an `Anchors`.

    Args:
        path: the file.
        scale: stored z per metre; None means metres.
        image_shape: not needed here; positions are checked against the image later.

    Raises:
        ContractError: the file is missing or broken, lacks an array, or one has the wrong shape.
    """
    arrays = read_arrays(path, needed=("uv_px", "z_m"), optional=("sigma_m",))
    per_metre = scale or 1.0
    anchors = Anchors(arrays["uv_px"], arrays["z_m"], arrays.get("sigma_m"))
    if per_metre == 1.0:
        return anchors
    sigma_m = None if anchors.sigma_m is None else anchors.sigma_m / per_metre
    return Anchors(anchors.uv_px, anchors.z_m / per_metre, sigma_m)
