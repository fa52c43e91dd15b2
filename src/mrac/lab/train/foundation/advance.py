"""The loop of a training run: a progress bar, and every so often a line in the log and the state."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from torch import Tensor

from mrac.lab.train.foundation.checkpoint import Training, save_state
from mrac.lab.train.log import STATE, append_line, number, progress_bar


class Advancing(Training, Protocol):
    """A run that can take a step."""

    def advance(self) -> Tensor:
        """One step; gives the loss, still on the device."""


def advance_to_end(
    training: Advancing, folder: Path, save_every: int, console: Console, measure: Callable[[], dict[str, Any]]
) -> None:
    """Takes the steps that are left.

    Args:
        training: whose options have `num_steps`.
        folder: for state and log.
        save_every: steps.
        console: for the progress bar.
        measure: what a line of the log has beside step and loss.
    """
    num_steps = training.options.num_steps
    with progress_bar(console) as progress:
        task = progress.add_task("training", total=num_steps, completed=training.step)
        began, first = time.monotonic(), training.step
        while training.step < num_steps:
            loss = training.advance()
            if training.step % 20 == 0:  # reading the loss waits for the GPU
                rate = (training.step - first) / (time.monotonic() - began)
                progress.update(task, description=f"loss {float(loss):.4f}, {rate:.1f} steps/s")
            progress.update(task, completed=training.step)
            if training.step % save_every == 0 or training.step == num_steps:
                # In this order: a line too many is dropped when a killed run goes on, a missing one could not be made.
                append_line(folder, step=training.step, loss=number(float(loss)), **measure())
                save_state(training, folder / STATE)
