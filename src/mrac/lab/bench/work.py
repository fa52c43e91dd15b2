"""What one worker does: a few images of a set under a few conditions. Any process, any order, the same rows."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError, MissingExtra
from mrac.lab.bench.protocol import Cell, Protocol
from mrac.lab.data import Dataset, datasets_in

# Sums over a network's channels come out differently with another number of threads, in the last bit; and two processes
# of one thread do 1.7 times the work of one process of two. So a worker has one thread, on any machine.
NUM_THREADS: Final = 1
ENVIRONMENT: Final = {name: str(NUM_THREADS) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share.

    Attributes:
        data: the folder, the same one for all workers.
        protocol: as plain values, see `Protocol.to_json`.
        device: see `device.on_device`.
        paper_rules: see `Dataset`.
    """

    data: str
    protocol: str
    device: str = "cpu"
    paper_rules: bool = False


@dataclass(frozen=True)
class Task:
    """Images of one set and the cells that need them.

    Attributes:
        set_name: of the set.
        images: their places in it.
        cells: of that set.
    """

    set_name: str
    images: tuple[int, ...]
    cells: tuple[Cell, ...]

    @property
    def num_rows(self) -> int:
        """How many rows come of it."""
        return len(self.images) * len(self.cells)


def prepare_worker() -> None:
    """To be called once in a process before any task; the ENVIRONMENT is to be set before it starts."""
    from mrac.runtime.parallel import limit_cores  # noqa: PLC0415

    limit_cores(NUM_THREADS)


def perform(job: Job, task: Task) -> list[dict[str, Any]]:
    """The rows of a task, image by image."""
    from mrac.lab.bench.score import score_image  # noqa: PLC0415  (scipy and numba: the driver does not need them)

    dataset, protocol = _sets(job.data, job.paper_rules)[task.set_name], _protocol(job.protocol)
    try:
        return [row for image in task.images for row in score_image(dataset[image], protocol, task.cells, job.device)]
    except MissingExtra as error:  # which, unlike this one, does not survive the way to another process
        raise ContractError(str(error)) from None


def sets_in(data: Path, paper_rules: bool = False) -> dict[str, Dataset]:
    """The sets of a folder by name, scored by their own rules or by the paper's."""
    return {dataset.name: replace(dataset, paper_rules=paper_rules) for dataset in datasets_in(data)}


@lru_cache(maxsize=4)
def _sets(data: str, paper_rules: bool) -> dict[str, Dataset]:
    return sets_in(Path(data), paper_rules)


@lru_cache(maxsize=4)
def _protocol(text: str) -> Protocol:
    import json  # noqa: PLC0415

    return Protocol.of(json.loads(text))
