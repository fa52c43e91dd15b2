"""Who does the frames of a batch job: processes of this machine, or Ray Data on one or many."""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from mrac.batch_jobs.job import Frame, Job, Outcome
from mrac.errors import ContractError

EXECUTORS: Final = ("local", "ray")
LIVES: Final = 3  # workers that may die over one frame: more is no accident


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a job may use.

    Attributes:
        workers: processes that calibrate.
        cpus: cores that Ray counts for each of them.
        gpus: GPUs, or a share of one, that Ray gives to each of them; loading and committing never have one.
    """

    workers: int
    cpus: float = 1.0
    gpus: float = 0.0


class Executor(Protocol):
    """Does frames in any order; one whose worker dies is given to another worker, `LIVES` times in all."""

    def __call__(self, job: Job, frames: Sequence[Frame], resources: Resources) -> Iterator[Outcome]:
        """The outcome of every frame, once each, as soon as it is known."""


def executor(name: str) -> Executor:
    """The executor called `name`: one of the modules beside this one.

    Raises:
        ContractError: there is none.
    """
    if name not in EXECUTORS:
        raise ContractError(f"batch: the executor {name!r} arrived; one of {', '.join(EXECUTORS)} is needed")
    run: Executor = importlib.import_module(f"mrac.batch_jobs.executors.{name}").execute
    return run


def died(frame: Frame) -> str:
    """What the manifest says of a frame over which workers died."""
    return (
        f"{frame.image}: {LIVES} workers died over this frame; is there memory for it? Fewer workers, or a smaller "
        "image, need less"
    )
