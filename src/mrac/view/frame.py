"""What the viewer shows of one result; parts that are not there are None, with a note that says why."""

from dataclasses import dataclass, replace
from typing import Self

from mrac.camera import Camera
from mrac.conventions import BoolArray, FloatArray, ImageArray, TextArray
from mrac.errors import ContractError
from mrac.result.inputs import fitted_camera


@dataclass(frozen=True, eq=False, kw_only=True)
class Readings:
    """K readings and the verdict on each.

    Attributes:
        uv_px: (K, 2) positions.
        z_m: (K,) what they say, metres.
        keep: (K,) whether each was taken for an inlier.
        reason: (K,) one word each.
        outlier_probability: (K,) of each.
    """

    uv_px: FloatArray
    z_m: FloatArray
    keep: BoolArray
    reason: TextArray
    outlier_probability: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ViewFrame:
    """One result.

    Attributes:
        name: of the frame.
        depth_m: (H, W) metres.
        sigma_m: (H, W) metres, or None.
        image: (H, W, 3) uint8, or None.
        camera: of the image, or None: then there is no cloud.
        readings: with their verdicts, or None.
        summary: lines on the result: status, stages, warnings.
        notes: what is left out, and what would bring it.
        time_ns: when it was taken, since 1970 or since a start of its own; None where that is not known.
    """

    name: str
    depth_m: FloatArray
    sigma_m: FloatArray | None = None
    image: ImageArray | None = None
    camera: Camera | None = None
    readings: Readings | None = None
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    time_ns: int | None = None

    def noted(self, note: str) -> Self:
        """The frame with one more note."""
        return replace(self, notes=(*self.notes, note))

    def with_image(self, image: ImageArray, where: str) -> Self:
        """The frame with its photo; a note in place of one of another size."""
        if image.shape != (*self.depth_m.shape, 3):
            (H, W), (h, w) = self.depth_m.shape, image.shape[:2]
            return self.noted(f"{where}: a {w}×{h} picture, the depth is {W}×{H}: left out")
        return replace(self, image=image)

    def with_camera(self, camera: Camera, where: str) -> Self:
        """The frame with its camera, at the depth's size.

        Raises:
            ContractError: the camera is of another aspect ratio.
        """
        return replace(self, camera=fitted_camera(camera, self.depth_m.shape, f"view: {where}"))


def checked_maps(name: str, depth_m: FloatArray, sigma_m: FloatArray | None) -> None:
    """Raises `ContractError` unless these are (H, W) maps of one size."""
    if depth_m.ndim != 2 or not depth_m.size or (sigma_m is not None and sigma_m.shape != depth_m.shape):
        found = f"depth_m {depth_m.shape}" + ("" if sigma_m is None else f", sigma_m {sigma_m.shape}")
        raise ContractError(f"view: {name}: {found}; two maps (H, W) of one size are needed")
