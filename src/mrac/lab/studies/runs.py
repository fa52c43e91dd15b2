"""Rows of finished runs of the benchmark, as the studies read them."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mrac.lab.bench.report.results import Results, joined


def runs_parser(study: str, words: str | None) -> argparse.ArgumentParser:
    """Of the command of a study, which takes one run or more."""
    parser = argparse.ArgumentParser(
        prog=f"python -m mrac.lab.studies.{study}",
        description=words,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    return parser


def read_runs(runs: Sequence[Path], columns: Sequence[str]) -> tuple[Results, int]:
    """The rows of all runs, and how many were left out because an earlier run has their cell."""
    from mrac.lab.bench.store import read_run  # noqa: PLC0415  (pyarrow: the tests of this file need none)

    found, left_out = joined([read_run(run).select(columns).to_pydict() for run in runs])
    return Results(found), left_out


def failed(results: Results) -> str:
    """The rows without a score, by reason: they are in no mean, so they are told."""
    reasons: dict[str, Counter[str]] = {}
    for method, failure in zip(results.columns["method"], results.columns["failure"], strict=True):
        if failure != "":
            reasons.setdefault(str(failure), Counter())[str(method)] += 1
    lines = []
    for reason, methods in reasons.items():
        whose = ", ".join(f"`{method}`" for method in methods)
        lines.append(f"- {methods.total()} rows of {whose}: {reason}\n")
    return "".join(lines) or "None.\n"
