"""Claims that no run of the benchmark can settle: the gate's speed, and the losses, which are trained."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.claim import Claim, NotRunError, Outcome, number
from mrac.bench.report.results import Results

_MICROSECONDS: Final = {"ns": 1e-3, "µs": 1.0, "ms": 1e3}


def latest(results: Path, pattern: str) -> Path:
    """The last of the files in date order, which is in the folder's name.

    Raises:
        NotRunError: there is none.
    """
    found = sorted(results.glob(pattern), key=lambda path: path.parent.name.rpartition("--")[2])
    if not found:
        raise NotRunError(f"no {pattern} in {results}")
    return found[-1]


def gate_speed(results: Path) -> Outcome:
    text = latest(results, "speed--*/table.txt").read_text(encoding="utf-8")
    line = re.search(r"gate, K = 50\s+│ mrac\s+│ ([\d.]+) (ns|µs|ms)", text)
    if line is None:
        raise NotRunError("no gate at K = 50 in the table of speeds")
    took_us = float(line[1]) * _MICROSECONDS[line[2]]
    machine = re.search(r"^machine: (.+)$", text, re.MULTILINE)
    where = f" ({machine[1]})" if machine else ""
    return Outcome(f"{took_us:.1f} µs{where}", (took_us <= 50,))


def trained(results: Path) -> dict[str, float]:
    """NYUv2 AbsRel on held-out scenes by row of the ablation."""
    rows = json.loads(latest(results, "*/ablation.json").read_text(encoding="utf-8"))["rows"]
    return {row["row"]: row["nyu_head"] for row in rows}


def change(errors: dict[str, float], before: str, after: str) -> str:
    return f"{before} {number(errors[before])}, {after} {number(errors[after])}"


def silog(results: Path) -> Outcome:
    errors = trained(results)
    here = f"{change(errors, 'raw_full', 'raw_no_silog')}; {change(errors, 'residual_full', 'residual_no_silog')}"
    worse = errors["residual_no_silog"] > 1.05 * errors["residual_full"]
    return Outcome(here, (errors["raw_no_silog"] > 2 * errors["raw_full"], worse))


def cwa(results: Path) -> Outcome:
    errors = trained(results)
    here = f"{change(errors, 'raw_full', 'raw_no_cwa')}; {change(errors, 'residual_full', 'residual_no_cwa')}"
    better = errors["raw_no_cwa"] < errors["raw_full"]
    return Outcome(here, (better, errors["residual_no_cwa"] > errors["residual_full"]))


def redundant(results: Path) -> Outcome:
    errors = trained(results)
    rows = ("residual_no_ssc", "residual_no_fmp")
    here = f"residual_full {number(errors['residual_full'])}, " + ", ".join(f"{r} {number(errors[r])}" for r in rows)
    return Outcome(here, tuple(abs(errors[row] - errors["residual_full"]) <= 0.01 for row in rows))


def res_term(results: Path) -> Outcome:
    errors = trained(results)
    return Outcome(
        change(errors, "residual_full", "residual_no_res"), (errors["residual_no_res"] < errors["residual_full"],)
    )


_ABLATION: Final = "`mrac train ablation`"


def claims(results: Path) -> tuple[Claim, ...]:
    """The claims, tested on the files under a folder of results."""

    def on_files(test: Callable[[Path], Outcome]) -> Callable[[Results], Outcome]:
        return lambda _: test(results)

    return (
        Claim(
            place="Abstract, Table VII",
            says="MRAC runs its selection in about 50 µs on CPU.",
            holds_when="the gate at K = 50 takes at most 50 µs",
            protocol="`make bench-speed`",
            test=on_files(gate_speed),
        ),
        Claim(
            place="Table VI",
            says="Removing SILog is catastrophic on the raw-depth head (0.143 to 0.697), harmful on the residual one "
            "(0.096 to 0.123).",
            holds_when="NYUv2: raw more than doubles, residual grows by more than 5 %",
            protocol=_ABLATION,
            test=on_files(silog),
        ),
        Claim(
            place="Table VI",
            says="CWA reverses sign: removing it helps the raw-depth head (0.143 to 0.113) and hurts the residual one "
            "(0.096 to 0.109).",
            holds_when="NYUv2: raw falls, residual grows",
            protocol=_ABLATION,
            test=on_files(cwa),
        ),
        Claim(
            place="Table VI",
            says="SSC and FMP are redundant on the residual head (within 0.01).",
            holds_when="NYUv2: each within 0.01 of all terms",
            protocol=_ABLATION,
            test=on_files(redundant),
        ),
        Claim(
            place="Table VI",
            says="The res term is harmful (0.096 to 0.084 without it).",
            holds_when="NYUv2: lower without it",
            protocol=_ABLATION,
            test=on_files(res_term),
        ),
    )
