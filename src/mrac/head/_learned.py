"""Learned heads: a network corrects the fit at reduced size, and depth is composed at the image's size."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.head._rendering import SIGMA_FLOOR, Normalisation, anchor_values, correction_unit, render, working_size
from mrac.head._weights import HeadFile, Kind
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.runtime.onnx_session import run_network
from mrac.runtime.parallel import for_each_band
from mrac.runtime.weight_files import weights_path
from mrac.space import SIGMA_SHARE, Space


class NetworkOutput(NamedTuple):
    """The network's output for a scene, with the units that composing depth takes.

    Attributes:
        normalisation: of the scene's relative field.
        unit: unit of Δ, in units of y.
        maps: (outputs, h, w) float32; the last is the log-variance s of log depth.
    """

    normalisation: Normalisation
    unit: float
    maps: FloatArray


class ImageInput(NamedTuple):
    """Input channels of the network that do not depend on the anchors.

    Attributes:
        image: (3, h, w) float32.
        relative: (h, w) float32, normalised.
        x: (h, w) the same, not normalised.
        normalisation: of the scene's relative field.
    """

    image: FloatArray
    relative: FloatArray
    x: FloatArray
    normalisation: Normalisation


class AnchorInput(NamedTuple):
    """Input channels of the network that hold the anchors.

    Attributes:
        mask: (h, w) float32, 1 where there is an anchor, else 0.
        anchor: (h, w) float32, see `Form`; 0 elsewhere.
        unit: unit of Δ, in units of y.
    """

    mask: FloatArray
    anchor: FloatArray
    unit: float


class LearnedHead(Head):
    """A head whose corrections come from a network of 0.47 M parameters in an ONNX file.

    One file serves any image size and any number of anchors from two up. Without a relative field, with fewer than two
    inliers, or where the scene is not `correctable`, the result is the closed-form fit, with a status of its own.

    Subclasses are frozen dataclasses with these fields:
        weights: a name in the package (`vanilla`, `b_prime`, `raw_depth`) or the path of an .onnx file.
        num_pixels: larger images are shrunk to so many for the network alone; depth is composed at full size. 0 takes
            the size of the network's training.
    """

    kind: ClassVar[Kind]
    weights: str
    num_pixels: int

    def __post_init__(self) -> None:
        check_numbers(self, 0, 1e9)
        weights_path(self.weights, self._where)

    @property
    def trained_space(self) -> Space:
        """See `Head`."""
        return self.head_file().space

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Raises:
            ContractError: the file is missing or not of this kind, or was trained in another space than the fit's.
        """
        file = self.head_file()
        if scene.relative is None or not self.applies(file, scene):
            return affine_fallback(scene)
        image = self.image_input(file, scene.image, scene.relative)
        anchors = self.anchor_input(file, scene, image)
        channels = {"image": image.image, "relative": image.relative[None], "mask": anchors.mask[None]}
        inputs = {name: values[None] for name, values in {**channels, "anchor": anchors.anchor[None]}.items()}
        output = NetworkOutput(image.normalisation, anchors.unit, run_network(file.path, inputs, self._where)[0])
        if not np.isfinite(output.maps).all():  # none of ours does that; a file of the user's might
            return affine_fallback(scene)
        return self._dense(scene, scene.relative, output)

    @abstractmethod
    def correctable(self, scene: Scene) -> bool:
        """Whether the scene has what the network corrects; two inliers and a relative field are given."""

    @abstractmethod
    def depth(self, scene: Scene, output: NetworkOutput, x: FloatArray, maps: FloatArray) -> FloatArray:
        """Composes depth for n rows of the image.

        Args:
            scene: of W columns.
            output: for its units.
            x: (n, W) float64 relative values.
            maps: (outputs, n, W) of the network, enlarged.

        Returns:
            (n, W) metres, float64.
        """

    def head_file(self) -> HeadFile:
        """The file of its weights and its metadata; raises `ContractError` as `__call__` does."""
        return HeadFile.read(self.weights, self.kind, self._where)

    def applies(self, file: HeadFile, scene: Scene) -> bool:
        """Whether the network is run on the scene; if not, the result is `affine_fallback`.

        Raises:
            ContractError: it was trained in another space than the fit's.
        """
        space = scene.samples.space
        if file.space != space:
            raise ContractError(
                f"{self._where}: {file.path.name} was trained in the space {file.space}, the fit is in {space}; "
                f"choose space={file.space!r} (--space {file.space}), or weights trained in {space}"
            )
        known = scene.relative is not None and len(scene.samples.inliers) >= 2
        return known and self.correctable(scene)

    def image_input(self, file: HeadFile, image: ImageArray, relative: FloatArray) -> ImageInput:
        """An (H, W, 3) image and its (H, W) relative field at the size that the network takes."""
        size = working_size((image.shape[0], image.shape[1]), self.num_pixels or file.num_pixels)
        # By area, as in training.
        small, x = (_shrunk(values, size) for values in (image, relative))
        normalisation = Normalisation.of(relative)
        # The network clamps to [−1, 2] itself; here too, because not every field fits into single precision.
        clamped = np.clip(normalisation(x), -1.0, 2.0).astype(np.float32)
        return ImageInput(np.ascontiguousarray(small.transpose(2, 0, 1), np.float32), clamped, x, normalisation)

    def anchor_input(self, file: HeadFile, scene: Scene, image: ImageInput) -> AnchorInput:
        """The scene's anchors at the size of that image."""
        x = image.x
        anchors = render(scene.samples, scene.shape, (x.shape[0], x.shape[1]))
        mask, anchor = np.zeros((2, *x.shape), np.float32)
        mask.reshape(-1)[anchors.pixel] = 1.0
        values = anchor_values(scene.fit, file.space, x.ravel()[anchors.pixel], anchors.z_m, file.form)
        anchor.reshape(-1)[anchors.pixel] = values
        return AnchorInput(mask, anchor, correction_unit(anchors.z_m, file.space, file.form))

    @property
    def _where(self) -> str:
        return f"head/{type(self).__module__.rpartition('.')[2]}"

    def _dense(self, scene: Scene, relative: FloatArray, output: NetworkOutput) -> HeadResult:
        H, W = scene.shape
        depth_m, sigma_m = np.empty((2, H, W), np.float32)
        enlarged_rows = _enlarged_rows(output.maps, (H, W))

        def compose(rows: slice) -> None:
            maps = enlarged_rows(rows)
            depth_m[rows] = self.depth(scene, output, relative[rows].astype(np.float64), maps)
            sigma_m[rows] = depth_m[rows] * share_of_depth(maps[-1])

        for_each_band(H, compose)
        return HeadResult(depth_m, sigma_m)


def share_of_depth(log_variance: FloatArray) -> FloatArray:
    """Standard deviation as a share of depth, from the network's log-variance s; any shape.

    Of log depth, σ² = exp(s) + 0.01², and to first order σ is a share of depth. An untrained network gives s = 0: a
    share of 1, a factor of e at one standard deviation, which is also what is assumed of a scene without a reading.
    """
    low, high = SIGMA_SHARE
    share = np.sqrt(np.exp(np.minimum(log_variance, 2.0 * math.log(high))) + np.float32(SIGMA_FLOOR**2))
    return np.clip(share, low, high)


def _shrunk(values: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """An (H, W, 3) image or an (H, W) field at `size` (h, w)."""
    if values.shape[:2] == size:
        return values
    return np.asarray(Image.fromarray(values).resize(size[::-1], Image.Resampling.BOX))


def affine_fallback(scene: Scene) -> HeadResult:
    """The closed-form fit, as the result of a learned head whose network is not run."""
    plain = Affine()(scene)
    return replace(plain, status="affine_fallback") if plain.status == "ok" else plain


def _enlarged_rows(maps: FloatArray, shape: tuple[int, int]) -> Callable[[slice], FloatArray]:
    """(C, h, w) maps enlarged to `shape` (H, W), a band of rows at a time: whole, they would be 600 MB at 50 MP."""
    if maps.shape[1:] == shape:
        return lambda rows: maps[:, rows]
    pictures = [Image.fromarray(values) for values in maps]
    return partial(_enlarged, pictures, shape)


def _enlarged(pictures: list[Image.Image], shape: tuple[int, int], rows: slice) -> FloatArray:
    per_row = pictures[0].height / shape[0]
    box = (0.0, rows.start * per_row, float(pictures[0].width), min(rows.stop * per_row, pictures[0].height))
    size = (shape[1], rows.stop - rows.start)
    return np.stack([np.asarray(p.resize(size, Image.Resampling.BILINEAR, box)) for p in pictures])
