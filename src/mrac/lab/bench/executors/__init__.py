"""Who does the work: processes of this machine, or Ray's workers anywhere. Each gives rows as tasks are done."""

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from mrac.lab.bench.work import Job, Task


class Executor(Protocol):
    """Performs tasks in any order; a task whose worker dies is given to another one."""

    def __call__(self, job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
        """Each task with its rows, as soon as it is done."""


def executor(name: str) -> Executor:
    """The executor called `name`: `local` or `ray`, the modules beside this one."""
    run: Executor = importlib.import_module(f"mrac.lab.bench.executors.{name}").execute
    return run
