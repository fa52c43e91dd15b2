"""`mrac train quantize --steps`: a calibrated 8-bit network made to answer as the one in single precision does."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from mrac.lab.train.log import STATE, append_line, make_folder, number, progress_bar, tidy
from mrac.lab.train.quantized.graph import QuantizedGraph
from mrac.lab.train.quantized.held import Held, distances, held_pictures
from mrac.lab.train.quantized.network import QuantizedNetwork
from mrac.lab.train.quantized.pictures import load_pictures
from mrac.lab.train.quantized.state import load_state, put, save_state
from mrac.lab.train.quantized.teacher import Teacher
from mrac.lab.train.quantized.training import QuantizeOptions, QuantizeTraining


@dataclass(frozen=True)
class RunOptions:
    """What a run reads and writes.

    Attributes:
        network: file in single precision.
        data: the training packs, folders with a manifest.csv.
        out: folder for state and log.
        save_every: steps.
        teacher: file of the network whose answers are learned; None for `network` itself.
    """

    network: Path
    data: tuple[Path, ...]
    out: Path
    save_every: int = 50
    teacher: Path | None = None


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
            not one of `mrac train foundation` or `student`.
    """
    graph = QuantizedGraph(model)
    network = QuantizedNetwork(run.network, graph)
    make_folder(run.out)
    sets, held_frames = load_pictures(run.data)
    taught_by = run.teacher or run.network
    teacher = Teacher(taught_by)
    held = held_pictures(held_frames, teacher)
    starts_from = hashlib.sha256(model.SerializeToString(deterministic=True) + taught_by.read_bytes()).hexdigest()
    training = QuantizeTraining(options, network, teacher, sets, starts_from)
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
