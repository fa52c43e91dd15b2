"""Runs kernels that release the interpreter lock on all the cores this process may use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

_Result = TypeVar("_Result")
_limit: int | None = None


def limit_cores(number: int) -> None:
    """From now on this process uses at most so many cores, networks included that it has not loaded yet.

    For a process that is one of many at work on the machine: threads of theirs would wait for each other.
    """
    global _limit  # noqa: PLW0603  (a property of the process, as the affinity is)
    _limit = number


def core_limit() -> int | None:
    """What `limit_cores` said, or None."""
    return _limit


def num_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return own if _limit is None else min(own, _limit)


def for_each_span(count: int, work: Callable[[int, int], None]) -> None:
    """Calls `work(start, stop)` over consecutive spans that cover `range(count)`, one span per core.

    Args:
        count: how many items there are; 0 calls nothing.
        work: must release the interpreter lock to gain anything, and write to places of its own.
    """
    map_spans(count, work)


def map_spans(count: int, work: Callable[[int, int], _Result]) -> list[_Result]:
    """What `work(start, stop)` gives for each of the spans of `for_each_span`, in their order."""
    workers = min(num_cores(), count)
    if workers <= 1:
        return [work(0, count)] if count else []
    edges = [count * i // workers for i in range(workers + 1)]
    # A pool per call costs 0.1 ms and leaves no thread behind: safe to fork, nothing at import time.
    with ThreadPoolExecutor(workers) as pool:
        return [done.result() for done in [pool.submit(work, a, b) for a, b in pairwise(edges)]]
