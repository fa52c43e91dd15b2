"""Many frames through one calibrator: read ahead, calibrated on several threads, in order, few of them in memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from mrac.anchors import read_anchors
from mrac.errors import ContractError
from mrac.io.image import read_image
from mrac.runtime.parallel import num_cores
from mrac.stage_results import describe

_Result = TypeVar("_Result")
Progress = Callable[[int, int | None], object]
"""Called with how many are done, and of how many, or None where that is not known."""


def in_order(
    work: Callable[..., _Result], frames: Any, workers: Any = None, read: Callable[[Any], tuple[Any, ...]] | None = None
) -> Iterator[_Result]:
    """Yields `work(*read(frame))` for each frame, in their order, each as soon as it is done.

    One thread iterates over `frames` and reads them, `workers` threads work, and whoever takes the results is a third
    party: decoding, computing and writing overlap. No more than `workers` + 1 frames or results are held at a time.
    Whoever stops early leaves the rest untaken, and no thread.

    Args:
        work: safe to call from several threads.
        frames: what `read` takes; iterated in the reading thread.
        workers: threads; None is one for each core, 1 does everything in this thread.
        read: gives the arguments of `work`; by default those of a calibrator, see `loaded`.

    Raises:
        ContractError: `workers` is not a whole number >= 1, `frames` cannot be iterated; later, what `frames`, `read`
            or `work` raised, with the frame's number, once the frames before it have been yielded.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ContractError(
            f"stream: workers={workers!r} arrived; a whole number >= 1 is needed, or None for all cores"
        )
    if not isinstance(frames, Iterable) or getattr(frames, "shape", None) == ():  # an array of one value is none
        raise ContractError(f"stream: {describe(frames)} arrived; an iterable of (image, anchors) pairs is needed")
    return _results(work, frames, num_cores() if workers is None else workers, loaded if read is None else read)


def loaded(frame: Any) -> tuple[Any, ...]:
    """A frame (image, anchors) or (image, anchors, relative) with each part that is a path or a callable read.

    Args:
        frame: the image an array, the path of an image file or a callable that returns an array; the anchors an
            `Anchors`, the path of a file of `read_anchors` or a callable; relative depth itself or a callable.

    Raises:
        ContractError: it is no such tuple, or a file cannot be read.
    """
    if not isinstance(frame, tuple | list) or len(frame) not in (2, 3):
        raise ContractError(
            f"{describe(frame)} arrived; (image, anchors) or (image, anchors, relative) is needed, image and anchors "
            "as they are, as paths or as callables"
        )
    image, anchors, *more = (part() if callable(part) else part for part in frame)
    if isinstance(image, str | Path):
        image = read_image(image)
    if isinstance(anchors, str | Path):
        anchors = read_anchors(anchors, image_shape=_shape(image))
    return image, anchors, *more


def reported(results: Iterator[_Result], frames: object, progress: Any) -> Iterator[_Result]:
    """The results, `progress(done, total)` called in the taker's thread before each is given.

    Args:
        results: of `frames`.
        frames: its length is the total, None where it has none.
        progress: see `Progress`; None calls nothing. What it raises ends the stream.

    Raises:
        ContractError: `progress` cannot be called.
    """
    if progress is None:
        return results
    if not callable(progress):
        raise ContractError(f"stream: progress: {describe(progress)} arrived; a callable(done, total) is needed")
    return _reporting(results, len(frames) if isinstance(frames, Sized) else None, progress)


def _reporting(results: Iterator[_Result], total: int | None, progress: Progress) -> Iterator[_Result]:
    for done, result in enumerate(results, 1):
        progress(done, total)
        yield result


def _shape(image: object) -> tuple[int, int] | None:
    shape: tuple[int, ...] = getattr(image, "shape", ())  # anything else than an image is named by the call itself
    return (shape[0], shape[1]) if len(shape) > 1 else None


def _results(
    work: Callable[..., _Result], frames: Iterable[Any], workers: int, read: Callable[[Any], tuple[Any, ...]]
) -> Iterator[_Result]:
    source = _numbered(frames)
    if workers == 1:
        yield from (_named(number, lambda f: work(*read(f)), frame) for number, frame in source)
        return
    # One thread, which takes its tasks in their order: so frames are read, and their futures made, in their order.
    reader, pool = ThreadPoolExecutor(1, "mrac-read"), ThreadPoolExecutor(workers, "mrac-stream")

    def next_frame() -> Future[_Result] | None:
        number, frame = next(source, (-1, None))
        return None if number < 0 else pool.submit(_named, number, lambda f: work(*f), _named(number, read, frame))

    waiting = deque(reader.submit(next_frame) for _ in range(workers))
    try:
        while (done := waiting.popleft().result()) is not None:
            waiting.append(reader.submit(next_frame))
            yield done.result()
    finally:
        reader.shutdown(cancel_futures=True)
        pool.shutdown(cancel_futures=True)


def _numbered(frames: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """`enumerate`, with the frame's number in what the iterable raises."""
    source, number = iter(frames), 0
    while True:
        try:
            frame = _named(number, next, source)
        except StopIteration:
            return
        yield number, frame
        number += 1


def _named(number: int, step: Callable[[Any], Any], frame: Any) -> Any:
    """What a step gives, or what it raises with the number of the frame."""
    try:
        return step(frame)
    except StopIteration:
        raise
    except ContractError as error:
        raise ContractError(f"stream: frame {number}: {error}") from error
    except Exception as error:
        error.add_note(f"in frame {number} of the stream")
        raise
