import threading

import pytest

from mrac.runtime import parallel
from mrac.runtime.parallel import for_each_span, limit_cores, num_cores


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
