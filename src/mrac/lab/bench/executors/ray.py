"""Ray: the same tasks on one machine or a cluster (`RAY_ADDRESS`), where --data is the same path on every node."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mrac.errors import MissingExtra
from mrac.lab.bench.work import ENVIRONMENT, Job, Task, perform, prepare_worker

_RETRIES: Final = 5  # of a task whose worker or node is gone
_AHEAD: Final = 2
_GPU_SHARE: Final = 0.125  # that a task asks for: without one Ray hides the GPU from it


def execute(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
    """See `Executor`; `workers` counts on a machine of our own, a cluster has what it has.

    Raises:
        MissingExtra: Ray is not installed.
    """
    ray = _started(workers)
    try:
        needs = {"num_cpus": 1, "num_gpus": _GPU_SHARE if job.device.startswith("cuda") else 0}
        remote = ray.remote(**needs, max_retries=_RETRIES, runtime_env={"env_vars": ENVIRONMENT})(_perform)
        cores = max(int(ray.cluster_resources().get("CPU", workers)), 1)
        left: deque[Task] = deque(tasks)
        running: dict[Any, Task] = {}
        while left or running:
            while left and len(running) < _AHEAD * cores:
                task = left.popleft()
                running[remote.remote(job, task)] = task
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                yield running.pop(reference), ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # its own text is a page
        raise error.cause from None
    finally:
        ray.shutdown()


def _started(workers: int) -> Any:
    try:
        import ray  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("bench --executor ray", "ray") from None
    options: dict[str, Any] = {"logging_level": "error", "log_to_driver": False, "ignore_reinit_error": True}
    if not os.environ.get("RAY_ADDRESS"):
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    ray.init(**options)
    return ray


def _perform(job: Job, task: Task) -> list[dict[str, Any]]:
    prepare_worker()
    return perform(job, task)
