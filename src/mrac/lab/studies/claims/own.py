"""Our own method beside the paper's: what is asked of `default`, asked of the same rows."""

from dataclasses import replace
from typing import Final

import numpy as np

from mrac.lab.bench.report.gate_f1 import IMAGE, POOLED, f1_image, f1_pooled
from mrac.lab.bench.report.labels import percent
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.studies.beyond.grid import COLUMNS, MUST, SIX
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.claim import FRACTIONS, SEEDS, Claim, NotRunError, Outcome, abs_rel, grid, number, strict_wins
from mrac.lab.studies.claims.real import SOURCES, levels

# Family, fraction: AbsRel on NYUv2 that must be reached.
_MUST: Final = {(cell.family, cell.fraction): must for cell, must in zip(COLUMNS.values(), MUST, strict=True)}


def every_condition(results: Results) -> Outcome:
    wins = {other: sum(strict_wins(results, OURS, other, grid())) for other in SIX}
    return Outcome(", ".join(f"`{m}` {won}/64" for m, won in wins.items()), tuple(w >= 60 for w in wins.values()))


def every_method(results: Results) -> Outcome:
    """Whatever has the whole grid; variants of ours, and gates that are told the truth, are no rivals."""
    cells = grid()
    there = {
        cell.method for cell in results.cells if cell.method.partition(";")[0] != OURS and "oracle" not in cell.method
    }
    rivals = sorted(m for m in there if all(results.has(replace(cell, method=m)) for cell in cells))
    if not rivals or not all(results.has(replace(cell, method=OURS)) for cell in cells):
        raise NotRunError("the grid")
    wins = {rival: sum(strict_wins(results, OURS, rival, cells)) for rival in rivals}
    lost = ", ".join(f"`{rival}` {won}/{len(cells)}" for rival, won in wins.items() if won < len(cells))
    here = f"{sum(won == len(cells) for won in wins.values())} of {len(wins)} methods beaten in all {len(cells)}"
    return Outcome(here + (f"; not {lost}" if lost else ""), tuple(won == len(cells) for won in wins.values()))


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
                verdicts = []
                for name, f1 in ((IMAGE, f1_image), (POOLED, f1_pooled)):
                    ours, paper = (f1(results, replace(cell, method=m), SEEDS) for m in (OURS, "mrac"))
                    parts.append(ours > paper)
                    verdicts.append(f"{name} {ours:.2f} / {paper:.2f}")
                shown[-1] += f" ({', '.join(verdicts)})"
        here.append(f"{source} {', '.join(shown)}")
    return Outcome(f"`{OURS}` / `mrac`: {'; '.join(here)}", tuple(parts))


QUESTIONS: Final = (
    Claim(
        name="own_every_condition",
        place="grid",
        says="Is `default` better than each of the paper's methods in at least 60 of 64 conditions?",
        holds_when="strict wins, counted as in Table III, against each of six",
        protocol="`paper`, with `--methods default`",
        test=every_condition,
    ),
    Claim(
        name="own_every_method",
        place="grid",
        says="Is it better than every method that was run on the grid, training-free peers included, everywhere?",
        holds_when="strict wins in all 64 conditions, against each method that has them all",
        protocol="`paper`, `beyond`, with `--methods default`",
        test=every_method,
    ),
    Claim(
        name="own_corrupted_mean",
        place="grid",
        says="Is its error under wrong anchors at most 0.55 times that of the best of them?",
        holds_when="mean AbsRel over the 48 corrupted conditions",
        protocol="`paper`, with `--methods default`",
        test=corrupted_mean,
    ),
    Claim(
        name="own_on_nyu",
        place="NYUv2",
        says="Does it reach what was asked of it, in brackets?",
        holds_when="AbsRel, K = 50, seed 0: at most that, in each of seven conditions",
        protocol="`paper`, with `--methods default`",
        test=on_nyu,
    ),
    Claim(
        name="own_real_readings",
        place="real sensors",
        says="Is it better than the paper's head and gate on really wrong readings?",
        holds_when="lower AbsRel than `mrac` for each sensor as it comes and at 10, 25, 40 %; there a higher F1 too, "
        "as the mean over images and pooled over all readings",
        protocol="real_outliers",
        test=real_readings,
    ),
)
