"""Our own method beside the paper's: what issue and README promise of `default`, asked of the same rows."""

from dataclasses import replace
from typing import Final

import numpy as np

from mrac.lab.bench.report.labels import percent
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.studies.beyond.grid import COLUMNS, MUST, SIX
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.claim import FRACTIONS, SEEDS, Claim, Outcome, abs_rel, grid, mean, number, strict_wins
from mrac.lab.studies.claims.real import SOURCES, levels

# Family, fraction: AbsRel on NYUv2 that must be reached.
_MUST: Final = {(cell.family, cell.fraction): must for cell, must in zip(COLUMNS.values(), MUST, strict=True)}


def every_condition(results: Results) -> Outcome:
    wins = {other: sum(strict_wins(results, OURS, other, grid())) for other in SIX}
    return Outcome(", ".join(f"`{m}` {won}/64" for m, won in wins.items()), tuple(w >= 60 for w in wins.values()))


def corrupted_mean(results: Results) -> Outcome:
    cells = grid(fractions=FRACTIONS[1:])
    means = {m: float(np.mean([abs_rel(results, replace(c, method=m)) for c in cells])) for m in (OURS, *SIX)}
    best = min(SIX, key=lambda m: means[m])
    here = (
        f"{number(means[OURS])}; best of the others `{best}` {number(means[best])}: {means[OURS] / means[best]:.2f} ×"
    )
    return Outcome(here, (means[OURS] <= 0.55 * means[best],))


def on_nyu(results: Results) -> Outcome:
    here, parts = [], []
    for (family, fraction), must in _MUST.items():
        error = abs_rel(results, CellKey(set="nyu", method=OURS, family=family, fraction=fraction))
        label = "clean" if family == "none" else f"{family} {percent(fraction)}"
        here.append(f"{label} {number(error)} ({number(must)})")
        parts.append(error <= must)
    return Outcome(", ".join(here), tuple(parts))


def real_readings(results: Results) -> Outcome:
    here, parts = [], []
    for source in SOURCES:
        shown = []
        for level, cell in levels(source).items():
            ours, paper = (abs_rel(results, replace(cell, method=m), SEEDS) for m in (OURS, "mrac"))
            parts.append(ours < paper)
            shown.append(f"{level} {number(ours)} / {number(paper)}")
            if level != "natural":
                ours, paper = (mean(results, "gate_f1", replace(cell, method=m), SEEDS) for m in (OURS, "mrac"))
                parts.append(ours > paper)
                shown[-1] += f" (F1 {ours:.2f} / {paper:.2f})"
        here.append(f"{source} {', '.join(shown)}")
    return Outcome(f"`{OURS}` / `mrac`: {'; '.join(here)}", tuple(parts))


QUESTIONS: Final = (
    Claim(
        place="grid",
        says="Is `default` better than each of the paper's methods in at least 60 of 64 conditions?",
        holds_when="strict wins, counted as in Table III, against each of six",
        protocol="`paper`, with `--methods default`",
        test=every_condition,
    ),
    Claim(
        place="grid",
        says="Is its error under wrong anchors at most 0.55 times that of the best of them?",
        holds_when="mean AbsRel over the 48 corrupted conditions",
        protocol="`paper`, with `--methods default`",
        test=corrupted_mean,
    ),
    Claim(
        place="NYUv2",
        says="Does it reach what was asked of it, in brackets?",
        holds_when="AbsRel, K = 50, seed 0: at most that, in each of seven conditions",
        protocol="`paper`, with `--methods default`",
        test=on_nyu,
    ),
    Claim(
        place="real sensors",
        says="Is it better than the paper's head and gate on really wrong readings?",
        holds_when="lower AbsRel than `mrac` for each sensor as it comes and at 10, 25, 40 %; there a higher F1 too",
        protocol="real_outliers",
        test=real_readings,
    ),
)
