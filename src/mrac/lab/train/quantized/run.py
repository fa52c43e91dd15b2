"""`mrac train quantize --steps`: a calibrated 8-bit network made to answer as the one in single precision does."""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from mrac.foundation.embedded import network_input
from mrac.lab.data.manifest import Frame
from mrac.lab.train.log import STATE, append_line, make_folder, number, progress_bar, tidy
from mrac.lab.train.quantized.graph import QuantizedGraph
from mrac.lab.train.quantized.network import QuantizedNetwork
from mrac.lab.train.quantized.pictures import load_pictures
from mrac.lab.train.quantized.state import load_state, put, save_state
from mrac.lab.train.quantized.teacher import Teacher
from mrac.lab.train.quantized.training import QuantizeOptions, QuantizeTraining, distance

_MEASURED = 6  # held-out frames of a set


@dataclass(frozen=True)
class Held:
    """A picture that is never learned from, with its teacher's answer."""

    set_name: str
    image: Tensor
    target: Tensor
    weight: Tensor


@dataclass(frozen=True)
class RunOptions:
    """What a run reads and writes.

    Attributes:
        network: file in single precision.
        data: the training packs, folders with a manifest.csv.
        out: folder for state and log.
        save_every: steps.
    """

    network: Path
    data: tuple[Path, ...]
    out: Path
    save_every: int = 50


def finetune(options: QuantizeOptions, run: RunOptions, model: Any, console: Console) -> dict[str, float]:
    """Fine-tunes `model`, in place, or goes on where a killed run stopped.

    Args:
        options: of the recipe.
        run: of this run.
        model: of the onnx package, the network calibrated in 8 bits (`lab/export/int8.py`).
        console: for the progress bar.

    Returns:
        Distance to the teacher on held-out frames by set, as a share of what it was before.

    Raises:
        ContractError: no such data, `run.out` cannot be a folder or holds a run of other options, or the network is
            not one of `mrac train foundation`.
    """
    graph = QuantizedGraph(model)
    network = QuantizedNetwork(run.network, graph)
    make_folder(run.out)
    sets, held_frames = load_pictures(run.data)
    teacher = Teacher(run.network)
    held = [_held(frame, teacher) for frames in held_frames for frame in frames[:: -(-len(frames) // _MEASURED)]]
    calibrated = hashlib.sha256(model.SerializeToString(deterministic=True)).hexdigest()
    training = QuantizeTraining(options, network, teacher, sets, calibrated)
    before = distances(network, held)
    if (run.out / STATE).exists():
        load_state(training, run.out / STATE)
    tidy(run.out, training.step)
    _advance(training, run, held, before, console)
    put(training.averages(), training.best)
    graph.write(training.averaged.grids(), training.averaged.weights())
    after = distances(training.averaged, held)
    return {name: after[name] / before[name] for name in before}


def _advance(
    training: QuantizeTraining, run: RunOptions, held: list[Held], before: dict[str, float], console: Console
) -> None:
    """Steps to the end; every so often the average is measured, kept if it is the nearest so far, and saved."""
    total = training.options.num_steps
    started, first = time.monotonic(), training.step
    with progress_bar(console) as progress:
        task = progress.add_task("fine-tuning", total=total, completed=training.step)
        while training.step < total:
            loss = training.advance()
            progress.update(task, completed=training.step, description=f"fine-tuning, loss {loss:.4f}")
            if training.step % run.save_every == 0 or training.step == total:
                now = distances(training.averaged, held)
                training.keep_if_better(float(np.mean([now[name] / before[name] for name in before])))
                seconds = (time.monotonic() - started) / (training.step - first)
                scores = {name: number(value) for name, value in now.items()}
                append_line(run.out, step=training.step, loss=number(loss), distance=scores, step_s=number(seconds))
                save_state(training, run.out / STATE)


def distances(network: QuantizedNetwork, held: list[Held]) -> dict[str, float]:
    """Mean distance to the teacher by set."""

    def one(picture: Held) -> float:
        torch.set_num_threads(1)
        return distance(network, picture.image, picture.target, picture.weight)

    with ThreadPoolExecutor(2) as pool:
        values = list(pool.map(one, held))
    names = dict.fromkeys(picture.set_name for picture in held)
    return {
        name: float(np.mean([v for v, picture in zip(values, held, strict=True) if picture.set_name == name]))
        for name in names
    }


def _held(frame: Frame, teacher: Teacher) -> Held:
    image = torch.from_numpy(network_input(frame.image()))
    return Held(frame.row["set"], image, *teacher(image))
