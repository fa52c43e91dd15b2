"""Runs kernels that release the interpreter lock on all the cores this process may use."""

import _thread
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Final, Generic, TypeVar

_Result = TypeVar("_Result")
_limit: int | None = None
# Double precision for so many rows only: whole maps of it would be 400 MB each at 50 megapixels.
BAND_ROWS: Final = 64


def limit_cores(number: int) -> None:
    """Limits this process to `number` cores, including the networks that it loads from now on.

    For a process that is one of many on the machine: their threads would wait for each other.
    """
    global _limit  # noqa: PLW0603  (a property of the process, as the affinity is)
    _limit = number


@contextmanager
def inherited(environment: Mapping[str, str]) -> Iterator[None]:
    """Sets variables that processes started meanwhile inherit: BLAS counts its threads when it is loaded, no later."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def num_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return own if _limit is None else min(own, _limit)


def for_each_span(count: int, work: Callable[[int, int], None]) -> None:
    """Calls `work(start, stop)` over consecutive spans that cover `range(count)`, one span per core.

    Args:
        count: how many items there are; 0 calls nothing.
        work: must release the interpreter lock to gain speed, and write to memory of its own.
    """
    map_spans(count, work)


def map_spans(count: int, work: Callable[[int, int], _Result]) -> list[_Result]:
    """The results of `work(start, stop)` for the spans of `for_each_span`, in their order."""
    workers = min(num_cores(), count)
    if workers <= 1:
        return [work(0, count)] if count else []
    spans = list(pairwise(count * i // workers for i in range(workers + 1)))
    others = [_Task(partial(work, *span)) for span in spans[1:]]
    try:
        first = work(*spans[0])
    finally:
        for task in others:
            task.wait()
    return [first, *(task.result() for task in others)]


@contextmanager
def meanwhile(work: Callable[[], _Result]) -> Iterator[Callable[[], _Result]]:
    """Runs `work` in another thread while the `with` block runs; on one core alone, when its result is asked for.

    Args:
        work: must release the interpreter lock to gain speed. Context variables are not those of the caller.

    Yields:
        What gives the result, or raises what `work` raised; the block does not end before the work has.
    """
    if num_cores() == 1:
        yield work
        return
    task = _Task(work)
    try:
        yield task.result
    finally:
        task.wait()


class _Task(Generic[_Result]):
    """A call in a thread of its own, which is gone when the call ends: nothing is left behind that a fork would miss.

    By `_thread`: the start of a `threading.Thread` waits until it runs, which on a busy machine takes milliseconds, and
    a pool's takes twice the time of this.
    """

    def __init__(self, work: Callable[[], _Result]) -> None:
        self._results: list[_Result] = []
        self._error: BaseException | None = None
        self._running = _thread.allocate_lock()
        self._running.acquire()
        _thread.start_new_thread(self._run, (work,))

    def _run(self, work: Callable[[], _Result]) -> None:
        try:
            self._results.append(work())
        except BaseException as error:  # raised where the result is asked for
            self._error = error
        finally:
            self._running.release()

    def wait(self) -> None:
        """Returns when the call has ended."""
        with self._running:
            pass

    def result(self) -> _Result:
        """What the call returned, or raises what it raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]


def row_bands(first: int, last: int, rows: int = BAND_ROWS) -> Iterator[slice]:
    """Consecutive slices that cover the rows from `first` to before `last`, each of at most `rows` rows."""
    for top in range(first, last, rows):
        yield slice(top, min(top + rows, last))


def for_each_band(num_rows: int, work: Callable[[slice], None], rows: int = BAND_ROWS) -> None:
    """Calls `work(band)` for bands of at most `rows` rows that cover `range(num_rows)`, on all cores.

    Args:
        num_rows: rows of the image; 0 calls nothing.
        work: takes a slice of rows. It should release the interpreter lock, and write to these rows only.
        rows: the most rows in a band; where one core's span of rows ends, a band may be shorter.
    """

    def span(first: int, last: int) -> None:
        for band in row_bands(first, last, rows):
            work(band)

    for_each_span(num_rows, span)
