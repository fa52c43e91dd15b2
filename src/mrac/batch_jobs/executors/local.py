"""Processes of this machine, one thread each; a killed one is replaced, and loses no frame but its own."""

import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Final

from mrac.batch_jobs.executors import LIVES, Resources, died
from mrac.batch_jobs.job import Frame, Job, Outcome, failed
from mrac.batch_jobs.stages import ENVIRONMENT, perform, prepare_worker
from mrac.errors import ContractError
from mrac.runtime.parallel import inherited

_DEATHS_IN_A_ROW: Final = 6  # without a frame done in between: workers cannot run here at all
_GONE: Final = (EOFError, ConnectionError)


class _Worker:
    """A process at the other end of a pipe, and the frame that it has."""

    def __init__(self, job: Job) -> None:
        self.connection, theirs = get_context("spawn").Pipe()
        self.process = get_context("spawn").Process(target=_serve, args=(job, theirs), daemon=True)
        self.process.start()
        theirs.close()  # with the process the last end of the pipe is gone, which `wait` then reports
        self.frame: Frame | None = None

    def give(self, frame: Frame) -> None:
        self.frame = frame
        with suppress(ConnectionError):  # it is gone, which reading from it will show
            self.connection.send(frame)

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()
        self.process.close()


def execute(job: Job, frames: Sequence[Frame], resources: Resources) -> Iterator[Outcome]:
    """See `Executor`.

    Raises:
        ContractError: workers die before they do anything.
    """
    left, deaths, in_a_row = deque(frames), Counter[str](), 0
    workers: list[_Worker] = []
    with inherited(ENVIRONMENT):
        try:
            workers += [_Worker(job) for _ in range(min(resources.workers, len(frames)))]
            while left or any(worker.frame for worker in workers):
                _hand_out(workers, left)
                for worker in _with_news(workers):
                    frame = worker.frame
                    try:
                        outcome: Outcome | None = worker.connection.recv()
                    except _GONE:
                        outcome = None
                        worker.end()
                        workers[workers.index(worker)] = _Worker(job)
                    worker.frame = None
                    if frame is None:  # it died between two frames
                        continue
                    in_a_row = 0 if outcome else in_a_row + 1
                    if in_a_row >= _DEATHS_IN_A_ROW:
                        raise ContractError(f"batch: {in_a_row} workers died one after the other; is there memory?")
                    deaths[frame.id] += outcome is None
                    if outcome is None and deaths[frame.id] < LIVES:
                        left.append(frame)
                    else:
                        yield outcome or failed(frame.id, died(frame))
        finally:
            for worker in workers:
                worker.end()


def _hand_out(workers: Sequence[_Worker], left: deque[Frame]) -> None:
    for worker in workers:
        if worker.frame is None and left:
            worker.give(left.popleft())


def _with_news(workers: Sequence[_Worker]) -> list[_Worker]:
    """Those that are done with their frame, or gone."""
    ready = wait([worker.connection for worker in workers])
    return [worker for worker in workers if worker.connection in ready]


def _serve(job: Job, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who hands out the frames
    prepare_worker()
    try:
        while True:
            connection.send(perform(job, connection.recv()))
    except _GONE:
        return  # whoever handed out the frames is gone
