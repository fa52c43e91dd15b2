"""`mrac train foundation`: from a folder of frames to a network that ships."""

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor

from mrac.errors import ContractError
from mrac.gpu.device import device_named
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.gpu.published import network_from_onnx
from mrac.lab.export.onnx import split_output, traced, write_model
from mrac.lab.train.foundation.advance import advance_to_end
from mrac.lab.train.foundation.checkpoint import load_network, load_state, save_network
from mrac.lab.train.foundation.imagenet_weights import published_encoder
from mrac.lab.train.foundation.recipe import FoundationOptions
from mrac.lab.train.foundation.rendered import render_frames
from mrac.lab.train.foundation.rounding import round_weights
from mrac.lab.train.foundation.training import FoundationTraining
from mrac.lab.train.foundation.validate import validate
from mrac.lab.train.frames import Frames, load_frames
from mrac.lab.train.log import STATE, make_folder, number, tidy
from mrac.lab.train.small_network import SmallNetwork

_SCENE_SIZE = (360, 480)
_MEASURED = 100  # frames of a set that are held out


@dataclass(frozen=True)
class RunOptions:
    """What a run reads and writes, on which device, and how often it is saved; the recipe is `FoundationOptions`.

    Attributes:
        data: the training packs, folders with a manifest.csv.
        out: for the state, the log and the network.
        device: `cpu`, `cuda`, or empty for the GPU where there is one.
        save_every: steps.
        leave_out: sets and scenes that are measured on and never trained on, besides those that are held out.
        start: weights of an earlier run (its embedded.safetensors), or a network as it ships (embedded.onnx), to go on
            from; None starts from ImageNet.
    """

    data: tuple[Path, ...]
    out: Path
    device: str = ""
    save_every: int = 500
    leave_out: tuple[str, ...] = ()
    start: Path | None = None


def train_foundation(
    options: FoundationOptions, run: RunOptions, is_held: Callable[[str, str], bool], console: Console
) -> Path:
    """Trains, or goes on where a killed run stopped, and exports.

    Args:
        options: of the recipe.
        run: of this run.
        is_held: by set and scene, what is measured on and never trained on.
        console: for the progress bar.

    Returns:
        The .onnx file.

    Raises:
        ContractError: no such data or device, `run.out` cannot be a folder or holds a run of other options.
    """
    device = choose_device(run.device)
    start = None if run.start is None else _start(run.start, options.network)
    if run.start is not None:
        options = dataclasses.replace(options, starts_from=hashlib.sha256(run.start.read_bytes()).hexdigest())
    make_folder(run.out)  # now, not when the first state is to be written
    where = " and ".join(map(str, run.data))
    console.print(f"reading {where} ...")
    sets = [s for folder in run.data for s in load_frames(folder, device, options.frame_pixels, labelled=True)]
    if unknown := set(run.leave_out).difference(*({s.set_name, *s.scenes} for s in sets)):
        raise ContractError(f"train: {min(unknown)!r} is to be left out, but is neither a set nor a scene of {where}")
    held, sets = (_parts(sets, is_held, run.leave_out, wanted) for wanted in (True, False))
    if not sets:
        raise ContractError(f"train: all scenes of {where} are held out, which leaves none to train on")
    if options.num_scenes:
        console.print(f"rendering {options.num_scenes} scenes ...")
        sets.append(render_frames(options.num_scenes, _SCENE_SIZE, sets[0].images, options.seed))
    published = None if start is not None else published_encoder(options.network.variant)
    training = FoundationTraining(options, sets, published, start)
    state = run.out / STATE
    if state.is_file():
        load_state(training, state)
        console.print(f"going on at step {training.step}")
    tidy(run.out, training.step)
    advance_to_end(
        training,
        run.out,
        run.save_every,
        console,
        lambda: {"abs_rel": {frames.set_name: number(validate(training.averaged, frames)) for frames in held}},
    )
    about = {"steps": str(training.step), "seed": str(options.seed), "options": json.dumps(dataclasses.asdict(options))}
    result = training.result()
    round_weights(result)
    save_network(result, run.out / "embedded.safetensors", about)
    network = run.out / "embedded.onnx"
    export_foundation(result, network)
    return network


def _start(path: Path, options: NetworkOptions) -> DepthNetwork | dict[str, Tensor]:
    return network_from_onnx(path, options).state_dict() if path.suffix == ".onnx" else load_network(path, options)


def _parts(
    sets: list[Frames], is_held: Callable[[str, str], bool], leave_out: tuple[str, ...], wanted: bool
) -> list[Frames]:
    """Of each set the frames that are held or left out, or the others; sets without any are left away."""
    parts = []
    for frames in sets:
        name = frames.set_name
        out = [name in leave_out or scene in leave_out or is_held(name, scene) for scene in frames.scenes]
        index = [i for i, one in enumerate(out) if one == wanted]
        if wanted:  # measuring all would take as long as training
            index = index[:: max(1, -(-len(index) // _MEASURED))]
        if index:
            parts.append(frames.pick(index))
    return parts


def export_foundation(network: DepthNetwork | SmallNetwork, path: Path) -> None:
    """Writes the network as `foundation/embedded.py` runs it: any batch, any sides that are multiples of 32."""
    rows, columns = (torch.export.Dim(name, min=1, max=128) for name in ("rows", "columns"))
    sample = {"image": torch.zeros(2, 3, 96, 128)}
    model = traced(
        network.cpu().to(memory_format=torch.contiguous_format),  # type: ignore[call-overload]
        sample,
        {"image": {0: torch.export.Dim("batch"), 2: 32 * rows, 3: 32 * columns}},
        "log_depth",
    )
    if isinstance(network, DepthNetwork):  # the other gives four maps, whose layer is no slower as it is
        split_output(model)
    write_model(model, path)


def choose_device(name: str) -> torch.device:
    """The device called `name`, or the GPU where there is one.

    Raises:
        ContractError: there is no such device, or no such GPU here.
    """
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = device_named(name, "train")
    num_gpus = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= num_gpus:
        seen = f"torch sees {num_gpus} of them" if num_gpus else "torch sees no GPU"
        raise ContractError(f"train: device {name!r} was asked for, but {seen}; leave --device away")
    return device


def is_held_out(scene: str, share: float) -> bool:
    """Whether a scene is kept for measuring: by its name, so that every run and every set agree."""
    return zlib.crc32(scene.encode()) / 2**32 < share
