"""Claims that rows cannot settle: the gate's speed, error by distance, and the losses, which are trained."""

import csv
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from mrac.lab.bench.report.labels import METHODS
from mrac.lab.bench.report.results import Results
from mrac.lab.studies.claim import LEARNER, Claim, NotRunError, Outcome, number

_MICROSECONDS: Final = {"ns": 1e-3, "µs": 1.0, "ms": 1e3}


def latest(results: Path, pattern: str) -> Path:
    """The last of the files in date order, which is in the folder's name.

    Raises:
        NotRunError: there is none.
    """
    found = sorted(results.glob(pattern), key=lambda path: path.relative_to(results).parts[0].rpartition("--")[2])
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


def propagation(results: Path) -> Outcome:
    path = latest(results, "*/report/tables/propagation.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bins = {label: [float(row["value"]) for row in rows if row["row"] == label] for label in _S1.values()}
    if not all(bins.values()):
        raise NotRunError("Fig. S1")
    learner, vanilla, gated = (bins[_S1[name]] for name in ("learner", "vanilla", "gated"))
    here = "; ".join(f"{name} {' / '.join(map(number, bins[label]))}" for name, label in _S1.items())
    return Outcome(
        f"KITTI-15, 0 to 20 … 120 to 200 px: {here}",
        (
            all(a > max(b, c) for a, b, c in zip(learner, vanilla, gated, strict=True)),
            all(b <= a for a, b in pairwise(learner[:5])),
            vanilla[4] <= 0.8 * vanilla[0],
            max(gated) <= 1.2 * min(gated),
        ),
    )


# As the report labels them.
_S1: Final = {"learner": METHODS[LEARNER], "vanilla": METHODS["vanilla"], "gated": METHODS["mrac_b_prime"]}
# What the paper says of each loss, when that holds, and the test.
_LOSSES: Final = (
    (
        "Removing SILog is catastrophic on the raw-depth head (0.143 to 0.697), harmful on the residual one "
        "(0.096 to 0.123).",
        "raw more than doubles, residual grows by more than 5 %",
        silog,
    ),
    (
        "CWA reverses sign: removing it helps the raw-depth head (0.143 to 0.113) and hurts the residual one "
        "(0.096 to 0.109).",
        "raw falls, residual grows",
        cwa,
    ),
    (
        "SSC and FMP are redundant on the residual head (within 0.01).",
        "each within 0.01 of all terms",
        redundant,
    ),
    (
        "The res term is harmful (0.096 to 0.084 without it).",
        "lower without it",
        res_term,
    ),
)


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
            place="Fig. S1",
            says="VI-Depth's error is elevated at every distance from a wrong anchor, decaying with it (0.55 to 0.42); "
            "vanilla's has the same shape (0.26 to 0.14); MRAC's is flat (0.12).",
            holds_when="KITTI-15, 25 % near, all frames: the learner is highest in every bin and falls from bin to bin "
            "to 120 px; vanilla at 80 to 120 px at least a fifth under 0 to 20; MRAC on B′ within 20 % over all bins",
            protocol="`mrac bench report --data`",
            test=on_files(propagation),
        ),
        *(
            Claim(
                place="Table VI",
                says=says,
                holds_when=f"NYUv2: {holds_when}",
                protocol="`mrac train ablation`",
                test=on_files(test),
            )
            for says, holds_when, test in _LOSSES
        ),
    )
