"""Runs jobs in threads: so many at a time, so many waiting, and refuses the rest."""

import asyncio
import ctypes
import logging
import math
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from starlette.requests import ClientDisconnect, Request

from mrac.http import BusyError, NotReadyError, TimeUpError

_Result = TypeVar("_Result")
_REMEMBERED: Final = 0.9  # share of the running mean of a job's seconds that a new job leaves
_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
LOG: Final = logging.getLogger("mrac.serve")


class Workers:
    """A pool of threads with a bounded queue before it; used from one event loop.

    Attributes:
        num: threads.
        waiting: the most requests that are inside and have no thread.
        inside: requests that hold a place, their bodies perhaps still arriving.
        running: jobs that have a thread.
        closing: whether no request is let in any more.
    """

    def __init__(self, num: int, waiting: int) -> None:
        self.num, self.waiting = num, waiting
        self.inside = self.running = 0
        self.closing = False
        self._pool = ThreadPoolExecutor(num, "mrac-serve")
        self._mean_s = 1.0
        self._trimmed_s = 0.0
        self._counting = threading.Lock()

    @asynccontextmanager
    async def place(self) -> AsyncIterator["Place"]:
        """Holds a place from before the body is read, since bodies are what fills memory.

        Raises:
            BusyError: all places are taken.
            NotReadyError: the server stops.
        """
        if self.closing:
            raise NotReadyError("the server stops; ask another, or later")
        if self.inside >= self.num + self.waiting:
            wait_s = max(1, math.ceil(self.inside * self._mean_s / self.num))
            raise BusyError(f"busy: {self.inside} requests are being served or wait; try again later", wait_s)
        self.inside += 1
        place = Place(self)
        try:
            yield place
        finally:
            place.leave()

    def submit(self, work: Callable[[], _Result]) -> "Future[_Result]":
        """Puts work into the queue of the threads."""
        return self._pool.submit(self._timed, work)

    def _timed(self, work: Callable[[], _Result]) -> _Result:
        with self._counting:
            self.running += 1
        start = time.perf_counter()
        try:
            return work()
        finally:
            self._give_back()
            with self._counting:
                self.running -= 1
                self._mean_s = _REMEMBERED * self._mean_s + (1.0 - _REMEMBERED) * (time.perf_counter() - start)

    def _give_back(self) -> None:
        """Returns freed memory to the system, at most once a second: glibc keeps it, in a heap for every thread."""
        with self._counting:
            now = time.perf_counter()
            is_time = now - self._trimmed_s >= 1.0
            self._trimmed_s = now if is_time else self._trimmed_s
        if is_time and _TRIM is not None:
            _TRIM(0)

    def close(self) -> None:
        """Lets nobody in any more and drops what waits; a job that runs is finished by its thread."""
        self.closing = True
        self._pool.shutdown(wait=False, cancel_futures=True)


class Place:
    """One request's place; given back when the request is answered and its thread is free."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._job: Future[Any] | None = None

    async def run(self, work: Callable[[], _Result], seconds: float, request: Request) -> _Result:
        """The result of `work`, from a thread.

        Raises:
            TimeUpError: it takes too long. What still waits is dropped; what runs goes on, and keeps its thread.
            ClientDisconnect: the client left.
        """
        job = self._workers.submit(work)
        self._job = job
        done = asyncio.wrap_future(job)
        gone = asyncio.ensure_future(_disconnected(request))
        either: set[asyncio.Future[Any]] = {done, gone}
        try:
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if done.done():
            return done.result()
        done.cancel()  # also the job, unless it runs
        if gone.done() and not gone.cancelled():
            raise ClientDisconnect
        raise TimeUpError(f"time: not done after {seconds:g} s; send a smaller image or fewer anchors, or try later")

    def leave(self) -> None:
        """Gives the place back, now or when the job's thread is free."""
        loop = asyncio.get_running_loop()
        if self._job is None or self._job.done():
            self._left()
        else:
            self._job.add_done_callback(lambda _: _soon(loop, self._left))

    def _left(self) -> None:
        self._workers.inside -= 1


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():  # of a server that has stopped meanwhile
        loop.call_soon_threadsafe(call)


async def _disconnected(request: Request) -> None:
    """Returns when the client is gone; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
