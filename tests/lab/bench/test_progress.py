import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from mrac.lab.bench import progress
from mrac.lab.bench.progress import Pace, shown


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_rows_of_an_earlier_run_count_as_done_but_not_for_the_pace(clock: list[float]) -> None:
    pace = Pace(2, 10, 200, 1000)
    assert str(pace) == "2/10 cells, 0.0 images/s, ? left"
    clock[0] += 10.0
    pace.cells, pace.rows = 3, 300
    assert str(pace) == "3/10 cells, 10.0 images/s, 0:01:10 left"


def test_a_log_has_a_line_now_and_then(clock: list[float]) -> None:
    log = io.StringIO()
    pace = Pace(0, 4, 0, 100)
    with shown(pace, Console(file=log)) as progress:
        for _ in range(100):
            clock[0] += 1.0
            pace.rows += 1
            progress.update()
    assert len(log.getvalue().splitlines()) == 3
    assert "1.0 images/s" in log.getvalue()


def test_a_terminal_has_a_bar() -> None:
    screen = io.StringIO()
    pace = Pace(0, 4, 0, 100)
    with shown(pace, Console(file=screen, force_terminal=True, width=100)) as progress:
        pace.rows = 50
        progress.update()
    assert "0/4 cells" in screen.getvalue()
