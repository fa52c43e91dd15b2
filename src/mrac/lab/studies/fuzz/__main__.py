"""Runs generated cases against every surface and shows what broke: `python -m mrac.lab.studies.fuzz`.

Only an error of this package, or of the command line, may come out of a case: anything else, a broken invariant or a
case of more than 30 seconds of processor time (or 300 in all) is a fault, shown with the number that makes it again
(--seed, --only).
"""

import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from mrac.cli.printable import printable
from mrac.errors import MracError
from mrac.lab.studies.fuzz.calls import call, command_line
from mrac.lab.studies.fuzz.files import Format, formats
from mrac.lab.studies.fuzz.mutate import mutated
from mrac.lab.studies.fuzz.scenes import invariants, scene

Surface = Callable[[np.random.Generator, Path], None]
_ALARM_S: Final = 30.0
_ALARMS: Final = 10
_SLOW: Final = {"scenes": 20, "invariants": 200, "command lines": 20}  # one case for so many of a file's


class HangError(Exception):
    """A case took too long."""


def surfaces() -> dict[str, Surface]:
    """By name, what takes a source of random numbers and a folder, and does one case."""
    files: dict[str, Surface] = {one.name: partial(_file, one) for one in formats()}
    return {**files, "calls": call, "command lines": command_line, "scenes": scene, "invariants": invariants}


def _file(one: Format, rng: np.random.Generator, folder: Path) -> None:
    path = folder / one.name
    path.write_bytes(mutated(one.content, rng))
    one.read(path)


def run(surface: Surface, seed: int, folder: Path) -> str:
    """What one case broke: nothing, or the kind of error and where."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", ResourceWarning)
            surface(np.random.default_rng(seed), folder)
    except MracError:
        return ""
    except Exception as error:  # that is what is looked for
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/mrac/" in frame.filename]
        where = f"{own[-1].filename.rpartition('/mrac/')[2]}:{own[-1].lineno}" if own else "?"
        return f"{type(error).__name__}: {str(error)[:60]} ({where})"
    return ""


class _Patience:
    """Ends a case that has used the processor, or waited, for too long; not one that others keep from it."""

    def __init__(self) -> None:
        self._alarms, self._began_s = 0, 0.0
        signal.signal(signal.SIGALRM, self._ring)

    def begin(self) -> None:
        self._alarms, self._began_s = 0, time.process_time()
        signal.setitimer(signal.ITIMER_REAL, _ALARM_S, _ALARM_S)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self._alarms += 1
        used_s = time.process_time() - self._began_s
        if used_s > _ALARM_S or self._alarms >= _ALARMS:
            self.end()  # once is enough
            raise HangError(f"a case took {used_s:.0f} s of processor time, {self._alarms * _ALARM_S:.0f} s in all")


@click.command()
@click.option("--cases", default=1000, show_default=True, help="Of each file format and of calls; fewer where slow.")
@click.option("--seconds", default=600.0, show_default=True, help="To end by, whatever is left.")
@click.option("--seed", default=0, show_default=True, help="Of the first case; each has the next number.")
@click.option("--only", default="", help="One surface.")
def main(cases: int, seconds: float, seed: int, only: str) -> None:
    """Run generated cases; exit code 1 where something broke."""
    patience = _Patience()
    end, chosen = time.monotonic() + seconds, surfaces()
    chosen = {only: chosen[only]} if only else chosen
    counts, broke, first = Counter[str](), {name: Counter[str]() for name in chosen}, dict[tuple[str, str], int]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + cases):
            for name, surface in chosen.items():
                if (number - seed) % _SLOW.get(name, 1) or time.monotonic() > end:
                    continue
                place = Path(folder) / name.replace(" ", "_")
                place.mkdir(exist_ok=True)
                patience.begin()
                found = run(surface, number, place)
                patience.end()
                counts[name] += 1
                if found:
                    broke[name][found] += 1
                    first.setdefault((name, found), number)
    table = Table("surface", "cases", "what broke (times, first seed)")
    for name in chosen:
        said = "; ".join(f"{what} ({times}, {first[name, what]})" for what, times in broke[name].most_common())
        table.add_row(name, f"{counts[name]:,}", printable(said or "nothing"))
    table.add_row("all", f"{counts.total():,}", f"{sum(each.total() for each in broke.values())} cases")
    Console(width=None if sys.stdout.isatty() else 160).print(table, markup=False)
    sys.exit(1 if any(broke.values()) else 0)


if __name__ == "__main__":
    main()
