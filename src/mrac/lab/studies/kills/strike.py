"""Starts a command as a group of processes, watches what it writes, and kills it at a random moment."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

OFTEN_S = 0.003  # between two looks at the folder: some kills are to meet a file half-written


@dataclass(frozen=True)
class Moment:
    """When to kill.

    Attributes:
        after_s: seconds from the start; or, where it is 0,
        after_changes: how many times the listing of the folder (names and sizes) has changed.
        alone: only the first process is killed, as for want of memory; its workers are left to themselves.
    """

    after_s: float
    after_changes: int
    alone: bool

    @classmethod
    def drawn(cls, rng: Random, seconds: float, changes: int) -> "Moment":
        """Any time of a run that takes so many seconds, or any of its changes; one in two each."""
        after_s = rng.uniform(0.0, seconds)
        after_changes = rng.randint(1, max(changes, 1))
        by_time = rng.random() < 0.5
        return cls(after_s if by_time else 0.0, 0 if by_time else after_changes, alone=rng.random() < 0.5)

    def has_come(self, seconds: float, changes: int) -> bool:
        return seconds >= self.after_s if self.after_s else changes >= self.after_changes

    def __str__(self) -> str:
        when = f"{self.after_s:.2f} s" if self.after_s else f"change {self.after_changes}"
        return f"{when}, {'the first process' if self.alone else 'all processes'}"


@dataclass
class Run:
    """What became of a command.

    Attributes:
        code: exit code; None if it was killed.
        said: its standard output and error.
        seconds: that it took.
        changes: of the listing of its folder.
        group: number of its group of processes.
    """

    code: int | None
    said: str
    seconds: float
    changes: int
    group: int


@dataclass
class Watch:
    """Counts how often the listing of a folder changes."""

    folder: Path
    changes: int = 0
    _last: frozenset[tuple[str, int]] = field(default_factory=frozenset)

    def look(self) -> None:
        now = listing(self.folder)
        self.changes += now != self._last
        self._last = now


def listing(folder: Path) -> frozenset[tuple[str, int]]:
    """The paths of all files below a folder, hidden ones too, with their sizes."""
    found, folders = set(), [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        found.add((os.path.relpath(entry.path, folder), entry.stat().st_size))
        except OSError:  # gone meanwhile
            continue
    return frozenset(found)


def run(command: Sequence[str], folder: Path, moment: Moment | None = None) -> Run:
    """Runs a command that writes to `folder`, to its end or to a moment."""
    log = folder.with_name(f"{folder.name}.log")
    watch = Watch(folder)
    watch.look()
    watch.changes = 0
    began = time.monotonic()
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None:
            watch.look()
            if moment is not None and moment.has_come(time.monotonic() - began, watch.changes):
                strike = os.kill if moment.alone else os.killpg
                strike(process.pid, signal.SIGKILL)
                process.wait()
                break
            time.sleep(OFTEN_S)
    code = None if process.returncode == -signal.SIGKILL else process.returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    log.unlink()
    return Run(code, text, time.monotonic() - began, watch.changes, process.pid)


def left_running(groups: Sequence[int], patience_s: float) -> list[str]:
    """The commands of killed groups that still run after so many seconds; they are ended then."""
    end = time.monotonic() + patience_s
    while (found := _members(groups)) and time.monotonic() < end:
        time.sleep(0.1)
    for process in found:
        process.kill()
    return [" ".join(process.info["cmdline"] or ()) for process in found]


def _members(groups: Sequence[int]) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        try:
            if os.getpgid(process.pid) in groups and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process)
        except ProcessLookupError:
            continue
    return found
