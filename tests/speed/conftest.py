"""Prints the run as ratios: in each group, how many times slower than ours everything else is."""

from typing import Any

import pytest
from rich.console import Console
from rich.table import Table


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(config: pytest.Config) -> None:
    session: Any = getattr(config, "_benchmarksession", None)
    if session is None or not session.benchmarks:
        return
    table = Table("what", "who", "median", "times ours", title="Speed, one run, this machine")
    medians: dict[str, dict[str, float]] = {}
    for bench in session.benchmarks:
        medians.setdefault(bench.group, {})[bench.extra_info["who"]] = bench.stats.median
    for group, by_who in medians.items():
        for who, seconds in sorted(by_who.items(), key=lambda item: item[0] != "mrac"):
            times = f"{seconds / by_who['mrac']:.1f}" if who != "mrac" else ""
            table.add_row(group, who, _readable(seconds), times)
        table.add_section()
    Console().print(table)


def _readable(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
