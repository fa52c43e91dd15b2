"""What a calibration gives: depth, its uncertainty, a verdict on every anchor."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrac import lognormal
from mrac.checks.finding import Finding
from mrac.conventions import BoolArray, FloatArray, ImageArray, TextArray
from mrac.runtime.onnx_session import DeviceUse
from mrac.space import Space
from mrac.types import FitResult

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from mrac.anchors import Anchors
    from mrac.camera import Camera
    from mrac.result.points import DepthPoints


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdict on every anchor that came in, in their order. Those merged into one reading share its verdict.

    Attributes:
        keep: (K,) whether it was taken for an inlier.
        score: (K,) residual in robust standard deviations; `WORST_SCORE` for a reading that could not be used at all.
        outlier_probability: (K,) 0 or 1 from a gate that makes hard decisions; 1 where it could not be used.
        weight: (K,) in [0, 1], by which fit and head used it.
        reason: (K,) one word: the gate's, or why it could not be used (docs/reference.md).
    """

    keep: BoolArray
    score: FloatArray
    outlier_probability: FloatArray
    weight: FloatArray
    reason: TextArray

    def __len__(self) -> int:
        return self.keep.size


@dataclass(frozen=True, eq=False)
class MetricDepth:
    """Dense metric depth with its uncertainty, a verdict on every anchor, and how it was computed.

    Attributes:
        depth_m: (H, W) float32 metres, finite and > 0 everywhere.
        sigma_m: (H, W) float32 standard deviation in metres, finite and > 0 everywhere. Depth is log-normal: this is
            half the width of the interval from one deviation of its logarithm below to one above.
        anchors: the verdict on every anchor.
        status: `ok`, or a named degradation: the fit's, else the gate's, else the head's; else `mostly_unusable` where
            more than half of the anchors were rejected or unusable.
        fit: on the samples of `GateResult.for_fit`, one per pixel.
        space: the space of that fit.
        stages: the name of the implementation at each; the foundation is `given` where the call brought relative depth.
        options, timings_ms: by stage, its parameters and its wall time.
        cache: `hit` where relative depth was read from disk, `miss` where it was not yet there, else `off`.
        device: which was asked for, and by network the ONNX Runtime provider that ran it; see `mrac list devices`.
        warnings: usual mistakes that the readings look like, which change nothing here; `zones`: how they were used.
    """

    depth_m: FloatArray
    sigma_m: FloatArray
    anchors: Verdicts
    status: str
    fit: FitResult
    space: Space
    stages: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    cache: str = "off"
    device: DeviceUse = field(default_factory=DeviceUse)
    warnings: tuple[Finding, ...] = ()

    def probability_nearer(self, d_m: float) -> FloatArray:
        """(H, W) float32 probability that a pixel's depth is less than `d_m` metres; see `mrac.lognormal`.

        Raises:
            ContractError: `d_m` is not a finite number > 0.
        """
        return lognormal.probability_nearer(self.depth_m, self.sigma_m, d_m)

    def interval(self, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """(H, W) float32 lower and upper limit, metres, of the central interval of that probability.

        Raises:
            ContractError: `level` is not between 0 and 1.
        """
        return lognormal.interval(self.depth_m, self.sigma_m, level)

    def save(
        self,
        path: Path | str,
        *,
        image: ImageArray | None = None,
        anchors: "Anchors | None" = None,
        camera: "Camera | None" = None,
        format: str | None = None,
    ) -> Path:
        """Writes the result, whole or not at all, as the ending of `path` says.

        Args:
            path: a folder (no ending, or one that exists): what `mrac calibrate` writes. `.npz`: depth_m, sigma_m and
                the verdicts. `.png`: depth, 16 bit. `.exr`: channels Z and sigma. `.tif`: pages depth and sigma.
                `.ply`: coloured points with sigma_m; needs `camera`. `.bin`: depth, COLMAP's dense map.
            image: (H, W, 3) uint8, what the depth was made from: the photo of a folder's preview, the points' colours.
            anchors: the same, for a folder: its preview shows and its report names their positions.
            camera: of the image, for `.ply`.
            format: of a `.png`: `mm`, `kitti`, `tum`, `realsense`, `scannet`; depth beyond 16 bits becomes 0, which is
                "no depth". By default the finest of mm, kitti and 6 steps per metre that holds all.

        Returns:
            The path that was written.

        Raises:
            ContractError: an unknown ending or format, a `.ply` without a camera, an image of another size.
            MissingExtra: `.exr` without OpenEXR.
        """
        from mrac.result.save import save  # noqa: PLC0415

        return save(self, path, image=image, anchors=anchors, camera=camera, format=format)

    def points(
        self, camera: "Camera", image: ImageArray | None = None, max_sigma: float | None = None, stride: int = 1
    ) -> "DepthPoints":
        """The pixels as points in the camera's frame, with colour and standard deviation.

        Args:
            camera: of the image; one that was calibrated at another size of the same picture is resized.
            image: (H, W, 3) uint8, for colours; without it there are none.
            max_sigma: metres; pixels of a larger standard deviation are left out.
            stride: of every so many rows and columns, one is taken.

        Raises:
            ContractError: camera or image are of another picture, or a number is impossible.
        """
        from mrac.result.points import points_of  # noqa: PLC0415

        return points_of(self, camera, image, max_sigma, stride)

    def plot(
        self, ax: "Axes | None" = None, image: ImageArray | None = None, anchors: "Anchors | None" = None
    ) -> "Axes":
        """Draws depth, standard deviation, photo and anchors with matplotlib, with scales in metres.

        Args:
            ax: where to draw the depth, and nothing else, with the anchors; by default a new figure shows all.
            image: (H, W, 3) uint8, the photo.
            anchors: the readings, drawn by verdict on the photo, or else on the depth.

        Returns:
            The axes of the depth; `.figure` is the whole.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        from mrac.result.plot import plot  # noqa: PLC0415

        return plot(self, ax, image, anchors)

    def to_xarray(self) -> "xarray.Dataset":
        """`depth_m` and `sigma_m` over (v, u), the verdicts over `anchor`, status, space and stages as attributes.

        Raises:
            MissingExtra: xarray is not installed.
        """
        from mrac.result.labelled import to_xarray  # noqa: PLC0415

        return to_xarray(self)

    def __repr__(self) -> str:
        height, width = self.depth_m.shape
        keep = self.anchors.keep
        return (
            f"MetricDepth {height}x{width}, {self.depth_m.min():.2f} to {self.depth_m.max():.2f} m, "
            f"{keep.sum()} of {keep.size} anchors kept, {self.status}"
        )

    def _repr_html_(self) -> str:
        from mrac.result.notebook import html  # noqa: PLC0415

        return html(self)

    def _repr_png_(self) -> bytes:
        from mrac.result.notebook import png  # noqa: PLC0415

        return png(self)
