"""Our method on the paper's grid: what must be reached on NYUv2, wins, and regret to a gate that knows the truth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.bootstrap import mean_intervals
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import METHODS, ordered
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.table import NOT_RUN, Better, Entry, Row, Table, mark_best
from mrac.lab.bench.report.wins import Comparison, Wins, count_wins
from mrac.lab.studies.beyond.pairs import CONDITIONS, OURS, Estimate, Pair, is_variant, pair, ratio, regret, together
from mrac.lab.studies.beyond.section import Section, as_percent, check, shown
from mrac.lab.studies.claim import FAMILIES, FIVE, SETS, NotRunError, Outcome, abs_rel, number

SIX: Final = (*FIVE, "ransac_residual")
ORACLE: Final = f"{OURS};gate=oracle"
PAPERS_GATE: Final = f"{OURS};gate=theil_sen_mad"
_FIRST: Final = (OURS, ORACLE, f"{OURS};gate=none", PAPERS_GATE)
COLUMNS: Final = {
    "clean": CellKey(set="nyu", method=""),
    "near 25": CellKey(set="nyu", method="", family="near", fraction=0.25),
    "near 40": CellKey(set="nyu", method="", family="near", fraction=0.4),
    "dropout 25": CellKey(set="nyu", method="", family="dropout", fraction=0.25),
    "dropout 40": CellKey(set="nyu", method="", family="dropout", fraction=0.4),
    "uniform 40": CellKey(set="nyu", method="", family="uniform", fraction=0.4),
    "mixed 40": CellKey(set="nyu", method="", family="mixed_pixel", fraction=0.4),
}
MUST: Final = (0.050, 0.064, 0.095, 0.060, 0.066, 0.085, 0.060)
AIM: Final = (0.038, 0.045, 0.055, 0.042, 0.047, 0.058, 0.046)
_PRINTED: Final = (
    0.097,
    0.105,
    None,
    0.100,
    None,
    None,
    None,
)  # by the paper, on DAv2-L
_LEAST_WINS, _ALL = 60, 64
_RATIO: Final = 0.55
Chosen = Callable[[CellKey], bool]
# Which conditions, then the regret that is allowed and the one that is aimed at.
REGRETS: Final[Mapping[str, tuple[Chosen, float, float]]] = {
    "clean": (lambda c: c.fraction == 0.0, 0.03, 0.01),
    "10 and 25 %": (lambda c: 0.0 < c.fraction <= 0.25, 0.12, 0.06),
    "40 %": (lambda c: c.fraction == 0.4, 0.35, 0.15),
}


def reaches(results: Results, limits: Sequence[float]) -> Outcome:
    """Whether our error is at most the limit of each column."""
    here, parts = [], []
    for (column, condition), limit in zip(COLUMNS.items(), limits, strict=True):
        error = abs_rel(results, replace(condition, method=OURS))
        parts.append(error <= limit)
        here.append(f"{column} {number(error)} ({number(limit)}{'' if parts[-1] else ', missed'})")
    return Outcome(", ".join(here), tuple(parts))


def nyu(results: Results) -> Section:
    """Error on NYUv2 beside the targets that were set for `default`, must and aim."""
    asks = "NYUv2, K = 50, seed 0: {} in brackets"
    checks = [check(asks.format(name), reaches, results, row) for name, row in (("must", MUST), ("aim", AIM))]
    wanted = {(c.family, c.fraction) for c in COLUMNS.values()}
    plain = (c for c in results.cells if c.set == "nyu" and c.num_anchors == 50 and c.placement == "random")
    there = {c.method for c in plain if c.source == "truth" and (c.family, c.fraction) in wanted}
    others = ordered({m for m in there if not is_variant(m)} - {*_FIRST, *SIX}, METHODS)
    targets = {"paper, DAv2-L, best published": _PRINTED, "must": MUST, "aim": AIM}
    rows = [
        Row(label=label, entries=(*(Entry(value=v, state=NOT_RUN) for v in values), Entry()), group="targets")
        for label, values in targets.items()
    ]
    rows.append(Row(label=f"{OURS}: 95 % interval", entries=(*_intervals(results), Entry()), group="targets"))
    methods = [*(m for m in (*_FIRST, *SIX) if m in there), *others]
    measured = [Row(label=m, entries=_errors(results, m), group="measured") for m in methods]
    better: list[Better] = [*["lower"] * len(COLUMNS), ""]  # type: ignore[list-item]
    table = Table(
        key="nyu", title="AbsRel on NYUv2", corner="method", columns=(*COLUMNS, "images"),
        about=f"K = 50, seed 0, embedded foundation; mean over the images that {OURS} was run on too. Methods with "
        "other numbers in a stage stand in the last two sections.",
        rows=(*rows, *mark_best(measured, better)),
    )  # fmt: skip
    return Section("a. NYUv2", checks, [table], notes=_same_anchors(results))


def _errors(results: Results, method: str) -> tuple[Entry, ...]:
    entries = []
    for condition in COLUMNS.values():
        both = together(results, condition, (OURS, method))
        own = both[1:] if both.size else together(results, condition, (method,))
        value = float(own.mean()) if own.size else None
        entries.append(Entry(value=value, state=NOT_RUN, num_images=own.size))
    counts = sorted({entry.num_images for entry in entries if entry.num_images} or {0})
    return (*entries, Entry(state=" to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))))


def _intervals(results: Results) -> list[Entry]:
    entries = []
    for condition in COLUMNS.values():
        values = together(results, condition, (OURS,))
        low, high = mean_intervals(values, "nyu") if values.size else (np.array([np.nan]),) * 2
        entries.append(Entry(state=f"{number(low[0])}–{number(high[0])}" if values.size else NOT_RUN))
    return entries


def _same_anchors(results: Results) -> list[str]:
    """Whether all methods were given the same anchors, by the hashes that are stored with the rows."""
    seen: dict[tuple[str, ...], set[str]] = {}
    names = ("set", "image", "family", "fraction", "num_anchors", "placement", "source", "seed")
    columns = [results.columns[name].tolist() for name in (*names, "anchors_hash")]
    for *where, own in zip(*columns, strict=True):
        if own:
            seen.setdefault(tuple(where), set()).add(own)
    differing = sum(len(hashes) > 1 for hashes in seen.values())
    if differing:
        return [f"NOT the same anchors for all methods: {differing} of {len(seen)} draws differ between rows."]
    return [f"All methods were given the same anchors in each of {len(seen)} draws, by their hashes."]


def won(results: Results) -> dict[str, Wins]:
    """Strict wins of ours against each of the six that was run with it."""
    context = Context(results=results)
    comparisons = {m: Comparison(method=OURS, against=m, sets=tuple(SETS), families=FAMILIES) for m in SIX}
    counts = {m: count_wins(context, comparison) for m, comparison in comparisons.items()}
    return {m: count for m, count in counts.items() if count.cells}


def enough(results: Results, counts: Mapping[str, Wins], least: int) -> Outcome:
    """Whether there are so many wins against each."""
    if not counts:
        raise NotRunError(f"`{OURS}` beside the six on the grid")
    here = ", ".join(f"`{m}` {w.wins} [{w.low}, {w.high}] of {w.cells}" for m, w in counts.items())
    absent = [m for m in SIX if m not in counts]
    here += f"; not run: {', '.join(absent)}" if absent else ""
    return Outcome(here, tuple(m in counts and counts[m].wins >= least for m in SIX))


def wins(results: Results) -> Section:
    """The scorecard."""
    counts, rows = won(results), []
    for other in SIX:
        entries: tuple[Entry, ...] = (Entry(state=NOT_RUN),) * 4
        if other in counts:
            w = counts[other]
            first = Entry(value=w.wins, interval=(w.low, w.high), decimals=0)
            entries = (first, *(Entry(value=n, decimals=0) for n in (w.cells, w.distinct_wins, w.distinct_cells)))
        rows.append(Row(label=other, entries=(*entries, *_against(results, other))))
    asks = "lower AbsRel than each of six in at least {} of 64"
    checks = [check(asks.format(least), enough, results, counts, least) for least in (_LEAST_WINS, _ALL)]
    checks.append(check(f"mean over corrupted cells at most {_RATIO} × the best of the six", corrupted_ratio, results))
    table = Table(
        key="wins", title="Strict wins and corrupted means against each of six", corner="against",
        columns=("wins", "of", "distinct", "of distinct", "default", "the other", "ratio"),
        about="Wins of default, AbsRel, on the images that both have; a clean cell counts once for each family, as in "
        "the paper, and once as distinct. Then the mean over corrupted cells of both, and their ratio. Brackets: 95 % "
        "interval, images resampled.",
        rows=tuple(rows),
    )  # fmt: skip
    return Section("b. The 64 conditions", checks, [table])


def _corrupted(results: Results, other: str) -> Pair:
    return pair(results, OURS, other).only(lambda c: c.fraction > 0.0)


def _against(results: Results, other: str) -> tuple[Entry, ...]:
    try:
        both = _corrupted(results, other)
    except NotRunError:
        return (Entry(state=NOT_RUN),) * 3
    means = (Entry(value=float(side.mean())) for side in (both.ours, both.theirs))
    return (*means, shown(both.figure(ratio), 2))


def corrupted_ratio(results: Results) -> Outcome:
    found: dict[str, tuple[Estimate, Pair]] = {}
    for other in SIX:
        both = _corrupted(results, other)  # one that is missing might be the best
        found[other] = both.figure(ratio), both
    best = max(found, key=lambda m: found[m][0].value)
    worst, both = found[best]
    here = (
        f"{number(float(both.ours.mean()))}; best of the others `{best}` {number(float(both.theirs.mean()))}: "
        f"{worst.value:.3f} × [{worst.low:.3f}, {worst.high:.3f}], {len(both.conditions)} of 48 cells, {both.images}"
    )
    return Outcome(here, (worst.value <= _RATIO and len(both.conditions) == 48,))


def judged(results: Results, place: int) -> Outcome:
    """Regret against must (0) or aim (1)."""
    both = pair(results, OURS, ORACLE)
    here, parts = [], []
    for label, (chosen, *limits) in REGRETS.items():
        found, limit = both.only(chosen).figure(regret), limits[place]
        parts.append(found.value <= limit)
        here.append(f"{label}: {as_percent(found)} ({100 * limit:g} %{'' if parts[-1] else ', missed'})")
    whole = "" if len(both.conditions) == len(CONDITIONS) else f"; {len(both.conditions)} of {len(CONDITIONS)} cells"
    return Outcome(f"{', '.join(here)}; {both.images}{whole}", tuple(parts))


def regrets(results: Results) -> Section:
    """How far from the gate that is told the truth."""
    title = "c. Regret to a gate that knows the truth"
    names = ("must", "aim")
    asks = "regret to the oracle, mean over the grid: {} in brackets"
    checks = [check(asks.format(name), judged, results, at) for at, name in enumerate(names)]
    try:
        both = pair(results, OURS, ORACLE)
    except NotRunError:
        return Section(title, checks)
    rows = [Row(label=label, entries=_regrets(both, s)) for s, label in (*SETS.items(), ("", "all sets"))]
    for family in FAMILIES:
        own = both.only(lambda c, f=family: c.family in (f, CLEAN))  # type: ignore[misc]
        rows.append(Row(label=f"all sets, {family}", entries=_regrets(own, "")))
    for at, label in enumerate(names):
        limits = (Entry(value=100.0 * wanted[at], decimals=0) for _, *wanted in REGRETS.values())
        rows.append(Row(label=label, entries=tuple(limits)))
    table = Table(
        key="regret", title=f"Regret of {OURS} to {ORACLE}, percent", corner="where", columns=tuple(REGRETS),
        about="AbsRel over the oracle's, less 1: of each cell, then the mean over cells. Clean cells stand in the "
        "first column alone. The oracle is the same head without the wrong anchors; it trusts all others, so that a "
        "gate which doubts a right anchor that misleads the head can be below zero.",
        rows=tuple(rows),
    )  # fmt: skip
    return Section(title, checks, [table])


def _regrets(both: Pair, set_name: str) -> tuple[Entry, ...]:
    entries = []
    for chosen, *_ in REGRETS.values():
        try:
            entries.append(shown(both.only(chosen, set_name=set_name).figure(regret), 1, 100.0))
        except NotRunError:
            entries.append(Entry(state=NOT_RUN))
    return tuple(entries)
