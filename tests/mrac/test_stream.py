import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mrac import Anchors, Calibrator, ContractError
from mrac.anchors.csv import write
from mrac.camera import Camera
from mrac.stream import in_order
from mrac.video import VideoCalibrator
from tests.conftest import MadeScene


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_a_stream_is_its_calls_bit_for_bit(workers: int | None, make_scene: Callable[..., MadeScene]) -> None:
    scenes = [make_scene(30 + 5 * i, shape=(40 + i, 60), seed=i) for i in range(7)]
    calibrator = Calibrator(foundation="none")
    frames: list[tuple[Any, ...]] = [(made.image, made.anchors, made.relative) for made in scenes]
    frames[3] = frames[3][:2]
    results = list(calibrator.stream(iter(frames), workers=workers))
    assert len(results) == len(frames)
    for frame, out in zip(frames, results, strict=True):
        alone = calibrator(*frame)
        for name in ("depth_m", "sigma_m"):
            np.testing.assert_array_equal(getattr(out, name), getattr(alone, name))
        for name, values in vars(alone.anchors).items():
            np.testing.assert_array_equal(getattr(out.anchors, name), values)
        assert (out.status, out.stages, out.fit.scale) == (alone.status, alone.stages, alone.fit.scale)


def test_the_camera_is_that_of_every_frame(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    camera = Camera(70.0, 70.0, 39.5, 29.5, 80, 60)
    frames = [(made.image, made.anchors, made.relative)] * 2
    alone = Calibrator(foundation="none")(*frames[0], camera=camera)
    for out in Calibrator(foundation="none").stream(frames, 2, camera=camera):
        assert out.warnings == alone.warnings
        np.testing.assert_array_equal(out.depth_m, alone.depth_m)


def test_order_is_kept_and_few_frames_are_held() -> None:
    taken, done, lock = 0, 0, threading.Lock()
    ended = [threading.Event() for _ in range(40)]

    def frames() -> Iterator[tuple[int, int]]:
        nonlocal taken
        for i in range(40):
            taken += 1
            yield i, i

    def work(i: int, _: int) -> int:
        nonlocal done
        if i % 3 == 0 and i + 1 < len(ended):  # the next one ends first
            assert ended[i + 1].wait(10.0)
        with lock:
            done += 1
        ended[i].set()
        return i

    for place, result in enumerate(in_order(work, frames(), workers=3)):
        assert result == place
        assert taken <= place + 1 + 3
    assert done == 40


def test_whoever_stops_early_leaves_the_rest() -> None:
    taken: list[int] = []

    def frames() -> Iterator[tuple[int, int]]:
        for i in range(1000):
            taken.append(i)
            yield i, i

    results = in_order(lambda i, _: i, frames(), workers=2)
    assert taken == [], "nothing is done before the first is asked for"
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 4
    assert not [t for t in threading.enumerate() if t.name.startswith("mrac-")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_names_its_frame(workers: int, make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    good = (made.image, made.anchors, made.relative)
    results = Calibrator(foundation="none").stream([good, good, (made.image, Anchors([[-9, 0]], [1.0]))], workers)
    assert [next(results).status, next(results).status] == ["ok", "ok"]
    with pytest.raises(ContractError, match=r"stream: frame 2: anchors: none of the 1 is usable"):
        next(results)
    with pytest.raises(ContractError, match=r"frame 0: an array .* \(image, anchors\) or"):
        next(Calibrator(foundation="none").stream([made.image], workers))  # type: ignore[list-item]

    def broken(_a: int, _b: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        next(in_order(broken, [(1, 2)], workers))
    assert caught.value.__notes__ == ["in frame 0 of the stream"]


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_impossible_workers_are_named_at_once(workers: Any) -> None:
    with pytest.raises(ContractError, match="whole number >= 1"):
        Calibrator(foundation="none").stream([], workers)


def test_what_is_no_iterable_is_named_at_once() -> None:
    with pytest.raises(ContractError, match="iterable of"):
        Calibrator(foundation="none").stream(3)  # type: ignore[arg-type]
    assert list(Calibrator(foundation="none").stream([])) == []


def test_paths_and_callables_are_read_in_a_thread_of_their_own(
    make_scene: Callable[..., MadeScene], tmp_path: Path
) -> None:
    made = make_scene()
    Image.fromarray(made.image).save(tmp_path / "a.png")
    write(tmp_path / "a.csv", made.anchors)
    threads: list[str] = []

    def seen(value: object) -> Callable[[], object]:
        def call() -> object:
            threads.append(threading.current_thread().name)
            return value

        return call

    calibrator = Calibrator(foundation="none")
    frames: list[tuple[Any, ...]] = [
        (tmp_path / "a.png", str(tmp_path / "a.csv")),
        (seen(made.image), seen(made.anchors)),
        (made.image, made.anchors, seen(made.relative)),
    ]
    for workers in (1, 2):
        first, second, third = calibrator.stream(frames, workers)
        alone = calibrator(made.image, made.anchors)
        np.testing.assert_array_equal(first.depth_m, alone.depth_m)
        np.testing.assert_array_equal(second.depth_m, alone.depth_m)
        np.testing.assert_array_equal(third.depth_m, calibrator(made.image, made.anchors, made.relative).depth_m)
    assert threads[:3] == [threading.current_thread().name] * 3
    assert all(name.startswith("mrac-read") for name in threads[3:])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_cannot_be_read_names_its_frame(
    workers: int, make_scene: Callable[..., MadeScene], tmp_path: Path
) -> None:
    made = make_scene()
    good = (made.image, made.anchors)
    results = Calibrator(foundation="none").stream([good, (tmp_path / "missing.png", made.anchors)], workers)
    assert next(results).status == "ok"
    with pytest.raises(ContractError, match=r"stream: frame 1: .*missing\.png: no such file"):
        next(results)
    assert not [t for t in threading.enumerate() if t.name.startswith("mrac-")]


def test_a_result_is_there_before_the_next_frame_is() -> None:
    """A camera gives its next frame later: whoever waits for the first result must not wait for that."""
    taken = threading.Event()

    def frames() -> Iterator[tuple[int, int]]:
        yield 0, 0
        assert taken.wait(10.0), "the result of frame 0 was held back until frame 1 came"
        yield 1, 1

    results = in_order(lambda i, _: i, frames(), workers=3)
    assert next(results) == 0
    taken.set()
    assert list(results) == [1]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_iterable_raises_comes_after_the_frames_before_it(workers: int) -> None:
    def frames() -> Iterator[tuple[int, int]]:
        yield 0, 0
        yield 1, 1
        raise OSError("the cable was pulled")

    results = in_order(lambda i, _: i, frames(), workers)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(OSError, match="cable") as caught:
        next(results)
    assert caught.value.__notes__ == ["in frame 2 of the stream"]
    assert not [t for t in threading.enumerate() if t.name.startswith("mrac-")]


@settings(max_examples=30, deadline=None)  # each makes threads
@given(num=st.integers(0, 30), workers=st.integers(1, 5), stop=st.integers(0, 30))
def test_order_and_bound_hold_for_any_number_of_frames_and_workers(num: int, workers: int, stop: int) -> None:
    taken = 0

    def frames() -> Iterator[tuple[int, int]]:
        nonlocal taken
        for i in range(num):
            taken += 1
            yield i, i

    results = in_order(lambda i, _: i, frames(), workers)
    got = list(islice(results, stop))
    assert got == list(range(min(num, stop)))
    assert taken <= len(got) + workers + 1
    results.close()  # type: ignore[attr-defined]


def test_batch_is_another_name() -> None:
    assert Calibrator.batch is Calibrator.stream


def test_progress_is_told_before_each_result(make_scene: Callable[..., MadeScene]) -> None:
    scene = make_scene(12, (20, 30))
    frames = [(scene.image, scene.anchors, scene.relative)] * 3
    told: list[tuple[int, int | None]] = []
    for workers in (1, 2):
        told.clear()
        results = Calibrator("cfa_ols").batch(frames, workers, progress=lambda *args: told.append(args))
        assert not told, "nothing is done yet"
        next(results)
        assert told == [(1, 3)]
        assert len(list(results)) == 2
        assert told == [(1, 3), (2, 3), (3, 3)]


def test_progress_of_a_generator_has_no_total(make_scene: Callable[..., MadeScene]) -> None:
    scene = make_scene(12, (20, 30))
    told: list[tuple[int, int | None]] = []
    frames = ((scene.image, scene.anchors, scene.relative) for _ in range(2))
    list(VideoCalibrator(Calibrator("cfa_ols")).frames(frames, progress=lambda *args: told.append(args)))
    assert told == [(1, None), (2, None)]


def test_a_progress_that_raises_ends_the_stream(make_scene: Callable[..., MadeScene]) -> None:
    scene = make_scene(12, (20, 30))

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Calibrator("cfa_ols").stream([(scene.image, scene.anchors, scene.relative)] * 3, 2, progress=stop))
    with pytest.raises(ContractError, match=r"progress: .* arrived; a callable"):
        Calibrator("cfa_ols").stream([], progress=3)  # type: ignore[arg-type]
