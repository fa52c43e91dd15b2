"""Many frames through one calibrator: in order, on several threads, with few of them in memory at a time."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from mrac.errors import ContractError
from mrac.runtime.parallel import num_cores
from mrac.stage_results import describe

_Result = TypeVar("_Result")


def in_order(work: Callable[..., _Result], frames: Any, workers: Any = None) -> Iterator[_Result]:
    """Yields `work(*frame)` for each frame, in their order.

    Frames are taken from their iterable when a thread is free for them: no more than `workers` + 1 of them, or of their
    results, are held at a time. Whoever stops early leaves the rest untaken.

    Args:
        work: safe to call from several threads.
        frames: tuples of its arguments, two or three.
        workers: threads; None is one for each core, 1 calls `work` in this thread.

    Raises:
        ContractError: `workers` is not a whole number >= 1, `frames` cannot be iterated; later, a frame is no tuple, or
            what `work` raised, with the frame's number.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ContractError(f"batch: workers={workers!r} arrived; a whole number >= 1 is needed, or None for all cores")
    if not isinstance(frames, Iterable):
        raise ContractError(f"batch: {describe(frames)} arrived; an iterable of (image, anchors) pairs is needed")
    return _results(work, frames, num_cores() if workers is None else workers)


def _results(work: Callable[..., _Result], frames: Iterable[Any], workers: int) -> Iterator[_Result]:
    numbered = enumerate(frames)
    if workers == 1:
        yield from (_one(work, number, frame) for number, frame in numbered)
        return
    waiting: deque[Future[_Result]] = deque()
    pool = ThreadPoolExecutor(workers, "mrac-batch")
    try:
        for number, frame in numbered:
            waiting.append(pool.submit(_one, work, number, frame))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _one(work: Callable[..., _Result], number: int, frame: Any) -> _Result:
    if not isinstance(frame, tuple | list) or len(frame) not in (2, 3):
        raise ContractError(
            f"batch: frame {number}: {describe(frame)} arrived; (image, anchors) or (image, anchors, relative) is "
            "needed"
        )
    try:
        return work(*frame)
    except ContractError as error:
        raise ContractError(f"batch: frame {number}: {error}") from error
    except Exception as error:
        error.add_note(f"in frame {number} of the batch")
        raise
