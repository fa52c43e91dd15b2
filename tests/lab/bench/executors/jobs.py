"""Tasks for the executors, and what must come of them."""

import json
from pathlib import Path
from typing import Any

from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.work import Job, Task, perform
from tests.lab.bench.conftest import METHODS

Rows = dict[Task, list[dict[str, Any]]]


def job_and_tasks(pack: Path, methods: tuple[str, ...] = METHODS) -> tuple[Job, list[Task]]:
    """A task for each image and condition of the set `room`."""
    grid = {"sets": ["room"], "methods": list(methods), "families": ["near", "uniform"], "fractions": [0.0, 0.3]}
    protocol = Protocol.of({"name": "made", "grid": [grid]})
    cells = protocol.cells()
    tasks = [
        Task("room", (image,), tuple(cell for cell in cells if cell.condition == condition))
        for image in range(3)
        for condition in dict.fromkeys(cell.condition for cell in cells)
    ]
    return Job(str(pack), json.dumps(protocol.to_json())), tasks


def done_here(job: Job, tasks: list[Task]) -> Rows:
    """By this process."""
    return {task: perform(job, task) for task in tasks}


def without_time(done: Rows) -> Rows:
    """All that must be equal to the bit."""
    return {
        task: [{name: value for name, value in row.items() if name != "time_ms"} for row in rows]
        for task, rows in done.items()
    }
