"""`mrac train vanilla | b_prime | ...`: from a folder of frames to a head that ships."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from rich.console import Console

from mrac.errors import ContractError
from mrac.lab.train.foundation.run import choose_device, is_held_out
from mrac.lab.train.heads.data import DataOptions, HeadFrames, load_head_frames
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.session import HeadRun, HeadSession
from mrac.lab.train.heads.state import Decides
from mrac.lab.train.heads.task import HeadTask
from mrac.lab.train.heads.training import HeadTraining, TrainingTask, make_accelerator
from mrac.lab.train.log import make_folder, progress_bar

MakeTask = Callable[[HeadOptions, list[HeadFrames], list[HeadFrames]], TrainingTask]
"""Of a recipe, the frames to learn from and those to measure on."""


def train_head(
    options: HeadOptions, data: DataOptions, run: HeadRun, console: Console, make_task: MakeTask = HeadTask
) -> Path:
    """Reads the data, trains, or goes on where a killed run stopped, and exports.

    Args:
        options: of the recipe.
        data: what is read.
        run: of this run.
        console: for the progress bar.
        make_task: what is learnt; `HeadTask` is for the kinds `residual` and `raw`.

    Returns:
        The .safetensors file of the last network; the .onnx file lies beside it.

    Raises:
        ContractError: no such data or device, `run.out` cannot be a folder or holds a run of other options.
    """
    device = make_ready(run)
    return train_on(options, load_head_frames(data, device, console), run, console, make_task)


def make_ready(run: HeadRun) -> torch.device:
    """What can go wrong before any work is done: the folder, the device, the precision. Gives this process's device.

    Raises:
        ContractError: one of them cannot be.
    """
    device: torch.device = make_accelerator(choose_device(run.device), run.precision).device
    make_folder(run.out)
    return device


def train_on(
    options: HeadOptions, sets: list[HeadFrames], run: HeadRun, console: Console, make_task: MakeTask = HeadTask
) -> Path:
    """As `train_head`, on frames that are read already."""
    return train_all([(options, run)], sets, console, make_task)[0]


def train_all(
    runs: Sequence[tuple[HeadOptions, HeadRun]],
    sets: list[HeadFrames],
    console: Console,
    make_task: MakeTask = HeadTask,
) -> list[Path]:
    """Several trainings on the same frames, with the same scenes held out, side by side.

    Small networks leave most of a GPU idle: four of them on one H200, each on a stream of its own, made 86 steps a
    second in all, where one alone made 43.

    Returns:
        What `train_head` gives, of each.

    Raises:
        ContractError: as `train_head`.
    """
    hold_out, precision = runs[0][1].hold_out, runs[0][1].precision
    held = [part for frames in sets if len(part := frames.take(lambda s: is_held_out(s, hold_out)))]
    trained = [part for frames in sets if len(part := frames.take(lambda s: not is_held_out(s, hold_out)))]
    if not trained:
        raise ContractError(f"train: holding out {hold_out:g} of the scenes leaves none to train on")
    digests = {
        name: {s.frames.set_name: s.digest() for s in part} for name, part in (("data", trained), ("held", held))
    }
    sessions = []
    for wanted, run in runs:
        accelerator = make_accelerator(sets[0].x.device, precision)
        options = replace(wanted, precision=accelerator.mixed_precision)
        training = HeadTraining(options, make_task(options, trained, held), accelerator)
        decides: Decides = {"options": json.loads(json.dumps(dataclasses.asdict(options))), **digests}
        sessions.append(HeadSession(training, run, decides, console))
    _advance_to_end(sessions)
    return [session.finish() for session in sessions]


def _advance_to_end(sessions: list[HeadSession]) -> None:
    """In step with the longest, so that all end together."""
    apart = len(sessions) > 1 and sessions[0].training.device.type == "cuda"
    lanes = [torch.cuda.Stream() if apart else None for _ in sessions]  # type: ignore[no-untyped-call]
    most = max(session.training.num_steps for session in sessions)
    with progress_bar(sessions[0].console) as progress:
        for session in sessions:
            session.show_in(progress)
        for done in range(1, most + 1):
            for session, lane in zip(sessions, lanes, strict=True):
                # Without a stream of its own (None), torch's context does nothing.
                with torch.cuda.stream(lane):
                    while session.training.step * most < done * session.training.num_steps:
                        session.advance()
