"""`mrac train vanilla | b_prime | ...`: from a folder of frames to a head that ships."""

import dataclasses
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mrac.errors import ContractError, MissingExtra
from mrac.train.checkpoint import save_network
from mrac.train.head_data import DataOptions, HeadFrames, load_head_frames
from mrac.train.head_export import EXPORT_BITS, export_checkpoint
from mrac.train.head_options import HeadOptions, Precision
from mrac.train.head_state import Decides, Watched, commit, load_head_state, save_head_state
from mrac.train.head_task import HeadTask
from mrac.train.head_training import HeadTraining, Task, make_accelerator
from mrac.train.log import STATE, append_line, make_folder, number, tidy
from mrac.train.rounding import round_weights
from mrac.train.run import choose_device, is_held_out
from mrac.train.tensorboard import Curves
from mrac.vi_depth.ranges import WIDE


@dataclass(frozen=True, kw_only=True)
class HeadRun:
    """What does not change the head that comes out, but where, how and how closely watched.

    Attributes:
        out: for the state, the log and the head.
        device: `cpu`, `cuda`, or empty for the GPU where there is one.
        precision: None for fp16 on a GPU and single precision on a CPU.
        hold_out: share of the scenes that is measured on and never trained on.
        score_every: epochs between two measurements.
        save_seconds: between two states. A step of a small head takes a GPU 10 ms, a state the disk as long as ten.
    """

    out: Path
    device: str = ""
    precision: Precision | None = None
    hold_out: float = 0.1
    score_every: int = 5
    save_seconds: float = 30.0


def train_head(options: HeadOptions, data: DataOptions, run: HeadRun, console: Console) -> Path:
    """Reads the data, trains, or goes on where a killed run stopped, and exports.

    Returns:
        The .safetensors file of the last network; the .onnx file lies beside it.

    Raises:
        ContractError: no such data or device, `run.out` cannot be a folder or holds a run of other options.
    """
    device = make_ready(run)
    return train_on(options, load_head_frames(data, device, console), run, console)


def make_ready(run: HeadRun) -> torch.device:
    """What can go wrong before any work is done: the folder, the device, the precision. Gives this process's device.

    Raises:
        ContractError: one of them cannot be.
    """
    device: torch.device = make_accelerator(choose_device(run.device), run.precision).device
    make_folder(run.out)
    return device


def train_on(options: HeadOptions, sets: list[HeadFrames], run: HeadRun, console: Console) -> Path:
    """As `train_head`, on frames that are read already."""
    accelerator = make_accelerator(sets[0].x.device, run.precision)
    options = replace(options, precision=accelerator.mixed_precision)
    held = [part for frames in sets if len(part := frames.take(lambda s: is_held_out(s, run.hold_out)))]
    sets = [part for frames in sets if len(part := frames.take(lambda s: not is_held_out(s, run.hold_out)))]
    if not sets:
        raise ContractError(f"train: holding out {run.hold_out:g} of the scenes leaves none to train on")
    training = HeadTraining(options, _task(options, sets, held, console), accelerator)
    decides: Decides = {
        "options": json.loads(json.dumps(dataclasses.asdict(options))),
        "data": {s.frames.set_name: s.digest() for s in sets},
        "held": {s.frames.set_name: s.digest() for s in held},
    }
    return _Session(training, run, decides, console).run_to_end()


def _task(options: HeadOptions, sets: list[HeadFrames], held: list[HeadFrames], console: Console) -> Task:
    if options.kind != "sml":
        return HeadTask(options, sets, held)
    from mrac.train.sml_task import SmlTask  # noqa: PLC0415  (scipy's triangulation and numba: only it needs them)

    console.print(f"drawing {options.budgets[0]} readings per frame ...")
    return SmlTask.draw(options, sets, held, WIDE)


class _Session:
    """One stretch of a run, from a state or from the start to the end, with everything that watches it."""

    def __init__(self, training: HeadTraining, run: HeadRun, decides: Decides, console: Console) -> None:
        self.training, self.run, self.decides = training, run, decides
        self.first = training.accelerator.is_main_process  # of several processes one speaks and writes
        self.console = console if self.first else Console(quiet=True)
        self.watched = Watched()
        self.commit = commit()
        self.state = run.out / STATE

    def run_to_end(self) -> Path:
        training, out = self.training, self.run.out
        if self.state.is_file():
            self.watched = load_head_state(training, self.state, self.decides)
            self.console.print(f"going on at step {training.step} of {training.num_steps}")
        if self.first:
            tidy(out, training.step)
        with Curves(out / "tensorboard" if self.first else None, training.epoch, self.console) as curves:
            self._advance_to_end(curves)
        last = out / f"{training.options.recipe}.safetensors"
        if self.first:
            # What ships is what was rounded for it: the weights here are those in the .onnx file.
            shipped = training.task.network()
            shipped.load_state_dict(training.network.state_dict())
            round_weights(shipped, EXPORT_BITS[training.options.kind])
            save_network(shipped, last, self._about())
            try:
                export_checkpoint(last, last.with_suffix(".onnx"))
            except MissingExtra as error:
                self.console.print(f"{error}. Then: mrac train export {last}")
        training.accelerator.wait_for_everyone()
        return last

    def _advance_to_end(self, curves: Curves) -> None:
        training, batch = self.training, self.training.options.batch
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.console) as progress:
            task = progress.add_task("training", total=training.num_steps, completed=training.step)
            began, first = time.monotonic(), training.step
            shown = saved = began
            while training.step < training.num_steps:
                training.advance()
                now = time.monotonic()
                rate = batch * (training.step - first) / (now - began)
                if training.steps_in_epoch == 0:
                    losses = self._end_epoch()
                    curves.add(training.epoch, {**losses, "images_per_s": rate}, self.watched.scores)
                    progress.update(task, description=f"loss {losses['total']:.4f}, {rate:.1f} images/s")
                    shown = now
                if self.first and (now - saved >= self.run.save_seconds or training.step == training.num_steps):
                    self._save()
                    saved = time.monotonic()
                # Not at every step, since reading the loss waits for the GPU; of several, one may not ask alone.
                if now - shown > 1.0 and training.accelerator.num_processes == 1:
                    loss = training.mean_losses()["total"]
                    progress.update(task, description=f"loss {loss:.4f}, {rate:.1f} images/s")
                    shown = now
                progress.update(task, completed=training.step)

    def _end_epoch(self) -> dict[str, float]:
        """Measures and logs; gives the losses of the epoch."""
        training, out = self.training, self.run.out
        losses = training.mean_losses()
        due = training.epoch % self.run.score_every == 0 or training.step == training.num_steps
        scores = training.score() if due and self.first else {}
        self.watched = replace(self.watched, scores=scores)
        if self.first:
            # Before the state: a line too many is dropped when a killed run goes on, a missing one could not be made.
            append_line(
                out,
                step=training.step,
                epoch=training.epoch,
                loss={name: number(value) for name, value in losses.items()},
                abs_rel={s: {k: number(v) for k, v in measured.items()} for s, measured in scores.items()},
            )
            mean = mean_score(scores)
            if mean is not None and (self.watched.best is None or mean < self.watched.best):
                self.watched = replace(self.watched, best=mean)
                save_network(training.network, out / "best.safetensors", self._about())
        training.accelerator.wait_for_everyone()
        return losses

    def _save(self) -> None:
        save_network(self.training.network, self.run.out / "last.safetensors", self._about())
        save_head_state(self.training, self.state, self.decides, self.watched)

    def _about(self) -> dict[str, str]:
        """What a network's file says of where it comes from."""
        training, options = self.training, self.training.options
        words: dict[str, Any] = {
            "recipe": options.recipe,
            "step": str(training.step),
            "epoch": str(training.epoch),
            "options": json.dumps(self.decides["options"]),
            "data": json.dumps({"trained": self.decides["data"], "held": self.decides["held"]}),
            "abs_rel": json.dumps(self.watched.scores),
            "commit": self.commit,
        }
        return {name: word for name, word in words.items() if word is not None} | training.task.about


def mean_score(scores: dict[str, dict[str, float]]) -> float | None:
    """The head's AbsRel, mean over sets; None without any."""
    heads = [measured["head"] for measured in scores.values()]
    return sum(heads) / len(heads) if heads else None
