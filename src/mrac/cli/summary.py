"""What a run over many frames shows: a progress bar, one line of JSON for each frame, and a table at the end."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mrac.cli.printable import printable


class _Rate(ProgressColumn):
    """Frames in a second."""

    def render(self, task: Task) -> Text:
        """See rich."""
        return Text("" if task.speed is None else f"{task.speed:.1f} frames/s")


class Reporter:
    """Counts the frames of a run and shows them: the bar on a terminal's stderr, everything else on stdout.

    Args:
        out: the folder of the results.
        total: frames, if known.
        as_json: a line of JSON for each frame, and no table.
        quiet: nothing but errors.
        verbose: also a line of text for each frame.
    """

    def __init__(self, out: Path, total: int | None, *, as_json: bool, quiet: bool, verbose: bool) -> None:
        self._out, self._as_json, self._quiet, self._verbose = out, as_json, quiet, verbose
        self._errors: dict[str, str] = {}
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("frames", "anchors", "status", "warning")}
        console = Console(stderr=True)
        columns = (BarColumn(), MofNCompleteColumn(), _Rate(), TextColumn("·"), TimeRemainingColumn())
        shown = console.is_terminal and not quiet
        self._progress = Progress(*columns, console=console, disable=not shown)
        self._task = self._progress.add_task("", total=total)
        self._start = time.perf_counter()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def num_frames(self) -> int:
        """So many have been added."""
        return self._counts["frames"].total()

    def add(self, record: dict[str, Any]) -> None:
        """Shows a frame: a record of `mrac.frames.Manifest`, with `skipped` if it is of an earlier run, or an error."""
        frames = self._counts["frames"]
        if "error" in record:
            frames["failed"] += 1
            self._errors[record["frame"]] = record["error"]
        else:
            frames["finished before" if "skipped" in record else "done"] += 1
            self._counts["status"][record["status"]] += 1
            self._counts["anchors"].update(kept=record["kept"], rejected=record["rejected"])
            self._counts["warning"].update(set(record["warnings"]))
        if self._as_json:
            click.echo(json.dumps({name: value for name, value in record.items() if name != "inputs"}))
        elif self._verbose and not self._quiet and "error" not in record:
            line = f"{record['frame']}: {record['status']}, {record['kept']} anchors kept"
            self._progress.console.print(printable(line), markup=False)
        self._progress.advance(self._task)

    def finish(self) -> int:
        """Shows the table and the frames that failed; gives the exit code."""
        if not self._quiet and not self._as_json:
            Console().print(self._table())
        for frame, message in self._errors.items():
            click.echo(printable(f"mrac: {frame}: {message}"), err=True)
        return 2 if self._errors else 0

    def _table(self) -> Table:
        seconds, done = time.perf_counter() - self._start, self._counts["frames"]["done"]
        table = Table(title=Text(printable(self._out)), title_justify="left", show_header=False)
        table.add_row("frames", _counted(self._counts["frames"]) or "none")
        table.add_row("time", f"{seconds:.1f} s" + (f", {done / seconds:.2f} frames/s" if done else ""))
        table.add_row("status", _counted(self._counts["status"]) or "–")
        table.add_row("anchors", _counted(self._counts["anchors"]) or "–")
        table.add_row("warnings", _counted(self._counts["warning"]) or "none")
        return table


def _counted(counts: "Counter[str]") -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
