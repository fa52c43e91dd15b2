"""What the learned heads share: from a scene through the network and back to the image's size."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.head._rendering import SIGMA_FLOOR, Normal, anchor_values, correction_unit, render, working_size
from mrac.head._weights import Kind, Network, weights_path
from mrac.head.affine import SIGMA_SHARE, Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.options import check_numbers
from mrac.runtime.onnx_session import run_network
from mrac.runtime.parallel import for_each_span
from mrac.space import Space

_ROWS: Final = 64


class Told(NamedTuple):
    """A scene as the network saw it, and what composing depth takes.

    Attributes:
        normal: of the scene's relative field.
        unit: what Δ = 1 is worth in y.
        maps: (outputs, h, w) float32; the last is the log-variance s of log depth.
    """

    normal: Normal
    unit: float
    maps: FloatArray


class View(NamedTuple):
    """What the network sees of a scene whatever its anchors are.

    Attributes:
        image: (3, h, w) float32.
        relative: (h, w) float32, normalised.
        x: (h, w) the same, not normalised.
        normal: of the scene's relative field.
    """

    image: FloatArray
    relative: FloatArray
    x: FloatArray
    normal: Normal


class Marked(NamedTuple):
    """What the network is told of a scene's anchors.

    Attributes:
        mask: (h, w) float32, 1 where there is one.
        anchor: (h, w) float32.
        unit: what Δ = 1 is worth in y.
    """

    mask: FloatArray
    anchor: FloatArray
    unit: float


class LearnedHead(Head):
    """A head whose corrections come from a network of 0.47 M parameters in an ONNX file.

    One file serves any image size and any number of anchors from two up. Without a relative field, with fewer than two
    anchors, or where `defined` says no, the closed-form fit is given instead, and the status says so.

    Subclasses are frozen dataclasses with these fields:
        weights: a name in the package (`vanilla`, `b_prime`, `raw_depth`) or the path of an .onnx file.
        num_pixels: larger images are shrunk to so many for the network alone; depth is composed at full size. 0 takes
            what the network was trained at.
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
        return self.network().space

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Raises:
            ContractError: the file is missing or not of this kind, or was trained in another space than the fit's.
        """
        network = self.network()
        if scene.relative is None or not self.has_work(network, scene):
            return closed_form(scene)
        view = self.look(network, scene.image, scene.relative)
        marked = self.mark(network, scene, view)
        channels = {"image": view.image, "relative": view.relative[None], "mask": marked.mask[None]}
        inputs = {name: values[None] for name, values in {**channels, "anchor": marked.anchor[None]}.items()}
        told = Told(view.normal, marked.unit, run_network(network.path, inputs, self._where)[0])
        if not np.isfinite(told.maps).all():  # none of ours does that; a file of the user's might
            return closed_form(scene)
        return self._dense(scene, scene.relative, told)

    @abstractmethod
    def defined(self, scene: Scene) -> bool:
        """Whether there is what the network corrects; two anchors and a relative field are there."""

    @abstractmethod
    def depth(self, scene: Scene, told: Told, x: FloatArray, maps: FloatArray) -> FloatArray:
        """(n, W) metres, float64, of rows with relative values `x` (n, W) float64 and (outputs, n, W) maps."""

    def network(self) -> Network:
        """What the file of its weights says of itself; raises `ContractError` as `__call__` does."""
        return Network.read(self.weights, self.kind, self._where)

    def has_work(self, network: Network, scene: Scene) -> bool:
        """Whether the network is asked; if not, `closed_form` is the answer.

        Raises:
            ContractError: it was trained in another space than the fit's.
        """
        space = scene.samples.space
        if network.space != space:
            raise ContractError(
                f"{self._where}: {network.path.name} was trained in the space {network.space}, the fit is in {space}; "
                f"choose space={network.space!r} (--space {network.space}), or weights trained in {space}"
            )
        known = scene.relative is not None and len(scene.samples.trusted) >= 2
        return known and self.defined(scene)

    def look(self, network: Network, image: ImageArray, relative: FloatArray) -> View:
        """An (H, W, 3) image and its (H, W) relative field at the size that the network takes."""
        size = working_size((image.shape[0], image.shape[1]), self.num_pixels or network.num_pixels)
        # By area, as in training.
        small, x = (_shrunk(values, size) for values in (image, relative))
        normal = Normal.of(relative)
        # The network looks no further than from −1 to 2, and not every field fits into single precision.
        seen = np.clip(normal(x), -1.0, 2.0).astype(np.float32)
        return View(np.ascontiguousarray(small.transpose(2, 0, 1), np.float32), seen, x, normal)

    def mark(self, network: Network, scene: Scene, view: View) -> Marked:
        """The scene's anchors in that view of it."""
        marks = render(scene.samples, scene.shape, (view.x.shape[0], view.x.shape[1]))
        mask, anchor = np.zeros((2, *view.x.shape), np.float32)
        mask.reshape(-1)[marks.pixel] = 1.0
        values = anchor_values(scene.fit, network.space, view.x.ravel()[marks.pixel], marks.z_m, network.form)
        anchor.reshape(-1)[marks.pixel] = values
        return Marked(mask, anchor, correction_unit(marks.z_m, network.space, network.form))

    @property
    def _where(self) -> str:
        return f"head/{type(self).__module__.rpartition('.')[2]}"

    def _dense(self, scene: Scene, relative: FloatArray, told: Told) -> HeadResult:
        H, W = scene.shape
        depth_m, sigma_m = np.empty((2, H, W), np.float32)
        band = _bands(told.maps, (H, W))

        # Double precision for a few rows only, as in the affine head.
        def work(first: int, last: int) -> None:
            for top in range(first, last, _ROWS):
                rows = slice(top, min(top + _ROWS, last))
                maps = band(rows)
                depth_m[rows] = self.depth(scene, told, relative[rows].astype(np.float64), maps)
                sigma_m[rows] = depth_m[rows] * share_of_depth(maps[-1])

        for_each_span(H, work)
        return HeadResult(depth_m, sigma_m)


def share_of_depth(log_variance: FloatArray) -> FloatArray:
    """Standard deviation as a share of depth, from the s that a network was trained to give; any shape.

    Of log depth, σ² = exp(s) + 0.01², and to first order it is a share of depth. An untrained network gives s = 0: a
    share of 1, wrong by a factor of e at one standard deviation, which is what is assumed of a scene without a reading.
    """
    low, high = SIGMA_SHARE
    share = np.sqrt(np.exp(np.minimum(log_variance, 2.0 * math.log(high))) + np.float32(SIGMA_FLOOR**2))
    return np.clip(share, low, high)


def _shrunk(values: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """An (H, W, 3) image or an (H, W) field at `size` (h, w)."""
    if values.shape[:2] == size:
        return values
    return np.asarray(Image.fromarray(values).resize(size[::-1], Image.Resampling.BOX))


def closed_form(scene: Scene) -> HeadResult:
    """What a learned head gives where its network is not asked."""
    plain = Affine()(scene)
    return replace(plain, status="affine_fallback") if plain.status == "ok" else plain


def _bands(maps: FloatArray, shape: tuple[int, int]) -> Callable[[slice], FloatArray]:
    """Rows of (C, h, w) maps enlarged to `shape` (H, W), a band at a time: whole, they would be 600 MB at 50 MP."""
    if maps.shape[1:] == shape:
        return lambda rows: maps[:, rows]
    pictures = [Image.fromarray(values) for values in maps]
    return partial(_enlarged, pictures, shape)


def _enlarged(pictures: list[Image.Image], shape: tuple[int, int], rows: slice) -> FloatArray:
    per_row = pictures[0].height / shape[0]
    box = (0.0, rows.start * per_row, float(pictures[0].width), min(rows.stop * per_row, pictures[0].height))
    size = (shape[1], rows.stop - rows.start)
    return np.stack([np.asarray(p.resize(size, Image.Resampling.BILINEAR, box)) for p in pictures])
