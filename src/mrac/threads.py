"""Runs kernels that release the interpreter lock on all the cores this process may use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise


def num_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def for_each_span(count: int, work: Callable[[int, int], None]) -> None:
    """Calls `work(start, stop)` over consecutive spans that cover `range(count)`, one span per core.

    Args:
        count: how many items there are; 0 calls nothing.
        work: must release the interpreter lock to gain anything, and write to places of its own.
    """
    workers = min(num_cores(), count)
    if workers <= 1:
        if count:
            work(0, count)
        return
    edges = [count * i // workers for i in range(workers + 1)]
    # A pool per call costs 0.1 ms and leaves no thread behind: safe to fork, nothing at import time.
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, a, b) for a, b in pairwise(edges)]:
            done.result()
