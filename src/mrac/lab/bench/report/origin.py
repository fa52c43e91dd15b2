"""Where the rows of a report come from: commits, machines, commands, versions, and how many there are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from mrac.lab.bench.report.results import Results

About = Mapping[str, Any]
_UNKNOWN: Final = "unknown"
_CHANGED: Final = "+changes"


def commits(runs: Iterable[About]) -> dict[str, list[str]]:
    """By commit, in the order of the runs, the protocols that were run, or gone on with, at it."""
    found: dict[str, list[str]] = {}
    for run in runs:
        name = str(run.get("protocol", {}).get("name", "?"))
        for call in (*run.get("earlier", ()), run):
            own = found.setdefault(str(call.get("commit") or _UNKNOWN), [])
            if name not in own:
                own.append(name)
    return found


def warnings(runs: Sequence[About]) -> list[str]:
    """What a reader must see first: rows that no single commit gives again. Nothing where one clean commit does."""
    found = commits(runs)
    lines = []
    if len(found) > 1:
        each = "; ".join(f"{commit}: {', '.join(names)}" for commit, names in found.items())
        lines.append(f"Rows come from {len(found)} commits ({each}).")
    dirty = [commit for commit in found if commit.endswith(_CHANGED)]
    if dirty:
        lines.append(f"Uncommitted changes: rows of {', '.join(dirty)} cannot be made again from the commit.")
    if _UNKNOWN in found:
        lines.append(f"No commit is recorded for rows of {', '.join(found[_UNKNOWN])}.")
    return lines


def origin_line(runs: Sequence[About]) -> str:
    """One line of Markdown: the one commit, or the warnings."""
    lines = warnings(runs)
    return (
        " ".join(f"**{line}**" for line in lines)
        if lines
        else f"All rows are of one commit, {next(iter(commits(runs)))}."
    )


def count(results: Results, left_out: int) -> str:
    """How many results there are, each once, and what one is."""
    cells = sum(len(results.seeds(cell)) for cell in results.cells)
    failure = results.columns.get("failure")
    failed = 0 if failure is None else int(np.count_nonzero(failure != ""))
    again = f" {left_out:,} rows that a second run has again are not counted." if left_out else ""
    return (
        f"{len(results):,} results, each counted once: one image, scored for one method under one condition with one "
        f"seed. They fill {cells:,} cells (condition, method, seed). {failed:,} failed.{again}"
    )


def machines(runs: Iterable[About]) -> list[str]:
    """Of every run: commit, machine, images, protocol, when; what several have in common is said once."""
    alike: dict[str, list[str]] = {}
    for run in runs:
        images = ", ".join(f"{name} {own.get('images', '?')}" for name, own in run.get("sets", {}).items())
        machine = run.get("machine", {})
        common = (
            f"Commit {run.get('commit') or _UNKNOWN}, {machine.get('platform', '?')} with {machine.get('cores', '?')} "
            f"cores, device {run.get('device', '?')}. Images: {images or 'not recorded'}"
        )
        started = str(run.get("started", "?")).partition("+")[0].replace("T", " ")
        alike.setdefault(common, []).append(
            f"{run['protocol'].get('name', '?')} (hash {run.get('protocol_hash', '?')}, {started})"
        )
    return [f"{common}. Protocols, and when they were started: {', '.join(own)}." for common, own in alike.items()]


def versions(runs: Iterable[About]) -> list[str]:
    """The packages of the runs; a list that several have is there once."""
    found = [", ".join(f"{name} {number}" for name, number in run.get("versions", {}).items()) for run in runs]
    return [f"Versions: {line}." for line in dict.fromkeys(found) if line]


def commands(runs: Iterable[About]) -> list[str]:
    """Each command once, of runs that were gone on with all."""
    calls = [call for run in runs for call in (*run.get("earlier", ()), run)]
    return list(dict.fromkeys(str(call["command"]) for call in calls if call.get("command")))
