"""Processes of this machine, one thread each."""

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Final

from mrac.errors import ContractError
from mrac.lab.bench.work import ENVIRONMENT, Job, Task, perform, prepare_worker
from mrac.runtime.forking import die_with_parent
from mrac.runtime.parallel import inherited

_LIVES: Final = 5  # how often a pool may lose a worker: more is no accident
_AHEAD: Final = 2  # tasks per worker that are handed out, so that none waits for the next


def execute(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
    """See `Executor`.

    Raises:
        ContractError: workers keep dying.
    """
    # One of the processes cleans up after a stopped run, and is not to say so below the line that it was stopped.
    warned = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
    with inherited({**ENVIRONMENT, "PYTHONWARNINGS": ",".join(filter(None, warned))}):
        yield from _in_pools(job, deque(tasks), workers)


def _in_pools(job: Job, left: deque[Task], workers: int) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
    for _ in range(_LIVES):
        running: dict[Future[list[dict[str, Any]]], Task] = {}
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start)
        try:
            while left or running:
                while left and len(running) < _AHEAD * workers:
                    task = left.popleft()
                    running[pool.submit(perform, job, task)] = task
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    yield running.pop(future), rows
        except BrokenProcessPool:  # one was killed, for want of memory or by hand; its pool goes with it
            left.extendleft(running.values())
        else:
            return
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    raise ContractError(
        f"bench: {_LIVES} times a worker was killed; is there memory for {workers}? --workers sets them"
    )


def _start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who hands out the tasks
    prepare_worker()
    die_with_parent()
