import threading

import pytest

from mrac.runtime import parallel
from mrac.runtime.parallel import for_each_span, limit_cores, meanwhile, num_cores


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
def test_spans_cover_everything_once(count: int) -> None:
    seen: list[int] = []
    lock = threading.Lock()

    def work(start: int, stop: int) -> None:
        with lock:
            seen.extend(range(start, stop))

    for_each_span(count, work)
    assert sorted(seen) == list(range(count))
    assert num_cores() >= 1


def test_an_error_in_a_thread_is_raised_here() -> None:
    def work(start: int, stop: int) -> None:
        raise ZeroDivisionError(f"{start} {stop}")

    with pytest.raises(ZeroDivisionError):
        for_each_span(10, work)


def test_a_limit_holds_for_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_limit", None)  # put back afterwards
    limit_cores(1)
    assert num_cores() == 1
    spans: list[tuple[int, int]] = []
    for_each_span(100, lambda start, stop: spans.append((start, stop)))
    assert spans == [(0, 100)]
    limit_cores(10_000)
    assert num_cores() < 10_000


def test_work_runs_beside_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "num_cores", lambda: 2)
    inside, there = threading.Event(), threading.get_ident()

    def work() -> int:
        assert inside.wait(60), "the block waits for the work, which waits for the block"
        return threading.get_ident()

    with meanwhile(work) as result:
        inside.set()
    assert result() not in (0, there)


def test_on_one_core_work_is_done_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "num_cores", lambda: 1)
    done: list[int] = []
    with meanwhile(lambda: done.append(threading.get_ident())) as result:
        pass
    assert not done
    result()
    assert done == [threading.get_ident()]


@pytest.mark.parametrize("cores", [1, 2])
def test_errors_of_the_work_and_of_the_block_are_raised(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "num_cores", lambda: cores)

    def work() -> None:
        raise ZeroDivisionError

    with meanwhile(work) as result:
        pass
    with pytest.raises(ZeroDivisionError):
        result()
    with pytest.raises(KeyError), meanwhile(work):
        raise KeyError
