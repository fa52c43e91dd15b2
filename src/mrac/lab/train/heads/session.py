"""One training of a head with everything that watches it: state, log, curves, the best network, the file at the end."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from mrac.errors import MissingExtra
from mrac.lab.commit import checkout_commit
from mrac.lab.train.foundation.checkpoint import save_network
from mrac.lab.train.foundation.rounding import round_weights
from mrac.lab.train.heads.export import EXPORT_BITS, export_checkpoint
from mrac.lab.train.heads.options import Precision
from mrac.lab.train.heads.state import Decides, Watched, load_head_state, save_head_state
from mrac.lab.train.heads.training import HeadTraining
from mrac.lab.train.log import STATE, append_line, number, tidy
from mrac.lab.train.tensorboard import Curves


@dataclass(frozen=True, kw_only=True)
class HeadRun:
    """Where and how a run is done, what it measures on, and how often; the recipe is `HeadOptions`.

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


class HeadSession:
    """One stretch of a run, from a state or from the start to the end."""

    def __init__(self, training: HeadTraining, run: HeadRun, decides: Decides, console: Console) -> None:
        """Takes over the state in `run.out`, where there is one.

        Raises:
            ContractError: it is of another run.
        """
        self.training, self.run, self.decides = training, run, decides
        self.first = training.accelerator.is_main_process  # of several processes one speaks and writes
        self.console = console if self.first else Console(quiet=True)
        self.watched = Watched()
        self.commit = checkout_commit()
        self.state = run.out / STATE
        if self.state.is_file():
            self.watched = load_head_state(training, self.state, self.decides)
            self.console.print(f"going on at step {training.step} of {training.num_steps}")
        if self.first:
            tidy(run.out, training.step)
        self._curves = Curves(run.out / "tensorboard" if self.first else None, training.epoch, self.console)

    @property
    def done(self) -> bool:
        """Whether there is no step left."""
        return self.training.step >= self.training.num_steps

    def show_in(self, progress: Progress) -> None:
        """Where the next steps are shown; the clock starts."""
        training = self.training
        self._progress = progress
        self._bar: TaskID = progress.add_task("training", total=training.num_steps, completed=training.step)
        self._began = self._shown = self._saved = time.monotonic()
        self._began_at = training.step

    def advance(self) -> None:
        """One step, and what is due after it."""
        training = self.training
        training.advance()
        now = time.monotonic()
        rate = training.options.batch * (training.step - self._began_at) / (now - self._began)
        if training.steps_in_epoch == 0:
            losses = self._end_epoch()
            self._curves.add(training.epoch, {**losses, "images_per_s": rate}, self.watched.scores)
            self._show(losses["total"], rate)
        if self.first and (now - self._saved >= self.run.save_seconds or self.done):
            self._save()
            self._saved = time.monotonic()
        # Not at every step, since reading the loss waits for the GPU; of several, one may not ask alone.
        if now - self._shown > 1.0 and training.accelerator.num_processes == 1:
            self._show(training.mean_losses()["total"], rate)
        self._progress.update(self._bar, completed=training.step)

    def finish(self) -> Path:
        """Writes the head as .safetensors, which is given, and as .onnx beside it."""
        training = self.training
        self._curves.close()
        last = self.run.out / f"{training.options.recipe}.safetensors"
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

    def _show(self, loss: float, rate: float) -> None:
        recipe = self.training.options.recipe
        self._progress.update(self._bar, description=f"{recipe}: loss {loss:.4f}, {rate:.1f} images/s")
        self._shown = time.monotonic()

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
