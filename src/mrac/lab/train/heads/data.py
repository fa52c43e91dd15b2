"""What the learned heads are trained on, in device memory: frames and, computed once, their relative depth."""

import hashlib
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn import functional

from mrac import registry
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.foundation._cached import predict
from mrac.foundation.embedded import input_size
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.head._rendering import working_size
from mrac.lab.train.folds import fold_of
from mrac.lab.train.foundation.checkpoint import load_network
from mrac.lab.train.foundation.training import upsample
from mrac.lab.train.frames import Frames, load_frames
from mrac.lab.train.heads.residual_network import normalise_relative
from mrac.relative import fill_invalid, in_space
from mrac.runtime.cache import default_store
from mrac.runtime.parallel import num_cores
from mrac.space import Space
from mrac.types import RelativeDepth

_AT_ONCE = 16
ALL_PIXELS = 10**9  # of a frame at its own size


@dataclass(frozen=True)
class HeadFrames:
    """Frames of one camera with their relative depth.

    Attributes:
        frames: images and truth; the sky counts as not measured.
        x: (N, h, w) float32 relative depth, finite.
        normal: (N, h, w) of `normalise_relative`.
        native: whether `x` is of the space that lines are fitted in.
    """

    frames: Frames
    x: Tensor
    normal: Tensor
    native: bool

    def __len__(self) -> int:
        return len(self.frames)

    def take(self, chosen: Callable[[str], bool]) -> "HeadFrames":
        """Those whose scene is chosen."""
        index = [i for i, scene in enumerate(self.frames.scenes) if chosen(scene)]
        return replace(self, frames=self.frames.pick(index), x=self.x[index], normal=self.normal[index])

    def digest(self) -> str:
        """Of everything that training sees: names, pixels, truth and relative depth."""
        content = hashlib.sha256("\n".join(self.frames.names).encode(), usedforsecurity=False)
        for maps in (self.frames.images, self.frames.z_m, self.x):
            content.update(f"{tuple(maps.shape)}".encode())
            content.update(maps.contiguous().cpu().numpy().data)
        return content.hexdigest()


class RelativeDepthPredictor(Protocol):
    """Where relative depth comes from."""

    def __call__(self, frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        """Each frame's number once, in any order, with its field (h, w)."""
        ...


@dataclass(frozen=True)
class FromFoundation:
    """Any foundation, through the cache: each image once, ever.

    Attributes:
        spec: as `mrac calibrate --foundation` takes it.
    """

    spec: str = "embedded"

    def __call__(self, frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        """See `RelativeDepthPredictor`."""
        foundation, store = registry.create("foundation", self.spec), default_store()
        for i, image in enumerate(frames.images):
            relative, _ = predict(foundation, _pixels(image), store)
            if relative is None:
                raise ContractError(f"train: foundation {self.spec!r} gives no relative depth; heads need one")
            yield i, relative


@dataclass(frozen=True)
class OutOfFold:
    """Networks of `mrac train foundation`, each trained without one fold of the scenes: the one that never saw a frame.

    A network fits the images it was trained on far better than any other (0.036 against 0.093 AbsRel for ours); a head
    trained on such fields learns to correct errors that do not happen in use, and not those that do.

    Attributes:
        files: number i was trained without the scenes of which `fold_of` gives i; .onnx, or .safetensors, which runs on
            the device.
    """

    files: tuple[Path, ...]

    def __call__(self, frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        """See `RelativeDepthPredictor`.

        Raises:
            ContractError: every network was trained on these frames.
        """
        folds = [fold_of(frames.set_name, scene, len(self.files)) for scene in frames.scenes]
        if min(folds, default=0) < 0:
            raise ContractError(f"train: {frames.set_name} is in no fold; sets that a network never saw are needed")
        for number, file in enumerate(self.files):
            mine = [i for i, fold in enumerate(folds) if fold == number]
            if not mine:
                continue
            if file.suffix == ".safetensors":
                yield from zip(mine, _on_device(_load(file), frames.images[mine]), strict=True)
            else:
                fields = FromFoundation(f"embedded:{file}")(frames.pick(mine))
                yield from ((mine[i], field) for i, field in fields)


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """What is read.

    Attributes:
        folder: the training pack.
        predictor: of relative depth.
        space: that lines are fitted in.
        relative_space: of the relative depth; None takes `space`, where it can be converted.
        num_pixels: frames are shrunk to this once their relative depth is known.
        limit: read so many frames only, spread evenly over the pack.
    """

    folder: Path
    predictor: RelativeDepthPredictor
    space: Space = "depth"
    relative_space: Space | None = None
    num_pixels: int = ALL_PIXELS
    limit: int | None = None


def load_head_frames(options: DataOptions, device: torch.device, console: Console) -> list[HeadFrames]:
    """Reads every set of a pack and predicts its relative depth.

    Frames with fewer than two measured pixels are left out: no line goes through them.

    Raises:
        ContractError: the pack cannot be read, or the predictor has nothing to say about a frame.
    """
    console.print(f"reading {options.folder} ...")
    sets = [measured_only(frames) for frames in load_frames(options.folder, device, ALL_PIXELS)]
    if options.limit is not None:
        sets = _spread(sets, options.limit)
    full = (
        with_relative(frames, options.predictor, options.space, console, options.relative_space)
        for frames in sets
        if len(frames)
    )
    return [shrunk(frames, options.num_pixels) for frames in full]


def with_relative(
    frames: Frames,
    predictor: RelativeDepthPredictor,
    space: Space,
    console: Console,
    relative_space: Space | None = None,
) -> HeadFrames:
    """Frames with what `predictor` says of them, as the pipeline would see it: converted, holes filled.

    Args:
        frames: of one set.
        predictor: of relative depth.
        space: that lines are fitted in.
        console: for the progress bar.
        relative_space: of the relative depth; None takes `space`.
    """
    x, native = torch.empty_like(frames.z_m), []

    def convert(predicted: tuple[int, RelativeDepth]) -> None:
        converted = in_space(predicted[1], relative_space or space)
        native.append(converted.space == space)
        x[predicted[0]] = torch.from_numpy(fill_invalid(converted)[0].copy())

    described = f"relative depth of {frames.set_name}"
    watched = track(predictor(frames), described, total=len(frames), console=console, transient=True)
    with ThreadPoolExecutor(num_cores()) as pool:
        for _ in pool.map(convert, watched):
            pass  # but for what it raises
    normal = torch.cat([normalise_relative(part) for part in torch.split(x, _AT_ONCE)])
    return HeadFrames(frames, x, normal, all(native))


def shrunk(frames: HeadFrames, num_pixels: int) -> HeadFrames:
    """The frames as a head sees them: of at most `num_pixels`; relative depth is shrunk, not predicted anew.

    Images and relative depth are means over the area of a pixel. A pixel of the truth is the truth at its middle: a
    mean over an edge would be a depth that nothing has.
    """
    size = working_size((frames.x.shape[1], frames.x.shape[2]), num_pixels)
    if size == frames.x.shape[1:]:
        return frames

    def mean(maps_NCHW: Tensor) -> Tensor:
        return functional.interpolate(maps_NCHW.float(), size, mode="area")

    parts = [mean(part).round().to(torch.uint8) for part in torch.split(frames.frames.images, _AT_ONCE)]
    z_m = functional.interpolate(frames.frames.z_m[:, None], size, mode="nearest-exact")[:, 0]
    focal_px = frames.frames.focal_px * (size[1] / frames.x.shape[2])
    small = replace(frames.frames, images=torch.cat(parts), z_m=z_m, focal_px=focal_px)
    x, normal = (mean(maps[:, None])[:, 0] for maps in (frames.x, frames.normal))
    return replace(frames, frames=small, x=x, normal=normal)


def measured_only(frames: Frames) -> Frames:
    """The frames that have two measured pixels or more, with the sky as not measured."""
    z_m = torch.where(frames.z_m.isfinite(), frames.z_m, 0.0)
    enough = ((z_m > 0).sum(dim=(1, 2)) >= 2).tolist()
    return replace(frames, z_m=z_m).pick([i for i, good in enumerate(enough) if good])


def _spread(sets: list[Frames], limit: int) -> list[Frames]:
    total = sum(map(len, sets))
    chosen = set(np.linspace(0, total - 1, min(limit, total)).round().astype(int).tolist())
    ends = np.cumsum([0, *map(len, sets)])
    return [s.pick([i for i in range(len(s)) if start + i in chosen]) for s, start in zip(sets, ends, strict=False)]


def _pixels(image_3HW: Tensor) -> ImageArray:
    return image_3HW.permute(1, 2, 0).cpu().numpy()


def _load(file: Path) -> DepthNetwork:
    """A network of a run, of the shape its own metadata states."""
    options = NetworkOptions()
    try:
        with safe_open(file, framework="pt") as opened:
            stated: dict[str, Any] = json.loads((opened.metadata() or {}).get("options", "{}")).get("network", {})
        shape: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in stated.items()}
        options = NetworkOptions(**shape)
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError):
        pass  # `load_network` says what is wrong with the file
    return load_network(file, options)


@torch.no_grad()
def _on_device(network: DepthNetwork, images_N3HW: Tensor) -> Iterable[RelativeDepth]:
    """What `foundation/embedded` gives with that network, mirror image included, many images at a time."""
    H, W = images_N3HW.shape[2:]
    network.eval().to(images_N3HW.device)
    for part in torch.split(images_N3HW, _AT_ONCE):
        resized = functional.interpolate(part.float(), size=input_size(H, W), mode="bicubic", antialias=True)
        resized = resized.clamp(0, 255)
        seen, mirrored = network(torch.cat([resized, resized.flip(3)])).chunk(2)
        for field in upsample((seen + mirrored.flip(3)) / 2, (H, W)):
            yield RelativeDepth(field.cpu().numpy(), "log_depth")
