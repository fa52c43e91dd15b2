"""Live progress: cells done, images per second, time left; on a terminal a bar, in a log a line now and then."""

import datetime
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

_LOG_EVERY_S: Final = 30.0


class Pace:
    """How far a run is. An image counts once for every cell that it was scored in.

    Attributes:
        cells: done, of `num_cells`.
        rows: done, of `num_rows`; those of an earlier run count as done, but not for the pace.
    """

    def __init__(self, cells: int, num_cells: int, rows: int, num_rows: int) -> None:
        self.cells, self.num_cells = cells, num_cells
        self.rows, self.num_rows = rows, num_rows
        self._before, self._start = rows, time.monotonic()

    @property
    def per_second(self) -> float:
        """Images per second since the start."""
        return (self.rows - self._before) / max(time.monotonic() - self._start, 1e-9)

    def __str__(self) -> str:
        rate = self.per_second
        left_s = (self.num_rows - self.rows) / rate if rate > 0 else None
        left = "?" if left_s is None else str(datetime.timedelta(seconds=round(left_s)))
        return f"{self.cells}/{self.num_cells} cells, {rate:.1f} images/s, {left} left"


class _Words(ProgressColumn):
    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> Text:
        return Text(str(self._pace))


class Shown:
    """Tells the console when `pace` has moved."""

    def __init__(self, pace: Pace, console: Console, bar: Progress | None) -> None:
        self.pace, self._console, self._bar = pace, console, bar
        self._said = time.monotonic()

    def update(self) -> None:
        """To be called after each change."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.pace.rows)
        elif time.monotonic() - self._said > _LOG_EVERY_S:
            self._said = time.monotonic()
            self._console.print(str(self.pace), highlight=False)


@contextmanager
def shown(pace: Pace, console: Console) -> Iterator[Shown]:
    """Shows `pace` while the block runs."""
    if not console.is_terminal:
        yield Shown(pace, console, None)
        return
    with Progress(TextColumn("bench"), BarColumn(), _Words(pace), console=console) as bar:
        bar.add_task("bench", total=pace.num_rows, completed=pace.rows)
        yield Shown(pace, console, bar)
