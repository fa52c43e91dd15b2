"""Our method with other stages and other numbers: what each part buys, and whether one set of numbers serves all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table
from mrac.lab.studies.beyond.pairs import CONDITIONS, OURS, Estimate, Pair, is_variant, pair, ratio, regret
from mrac.lab.studies.beyond.section import Section, as_percent, check, shown
from mrac.lab.studies.claim import SETS, NotRunError, Outcome

_TOLERANCE: Final = 0.01
_HALVES: Final[dict[str, Callable[[CellKey], bool]]] = {
    "clean": lambda c: c.fraction == 0.0,
    "corrupted": lambda c: c.fraction > 0.0,
}


def _variants(results: Results, wanted: Callable[[str], bool]) -> list[str]:
    """Texts of our method with something exchanged, where the grid was run with them."""
    grid = {(c.set, c.family, c.fraction) for c in CONDITIONS}
    plain = [c for c in results.cells if (c.num_anchors, c.placement, c.source) == (50, "random", "truth")]
    found = {c.method for c in plain if (c.set, c.family, c.fraction) in grid}
    return sorted(m for m in found if m.startswith(f"{OURS};") and wanted(m))


def ablation(results: Results) -> Section:
    """Every method `default;...` beside `default`."""
    title = "f. What each part buys"
    variants = _variants(results, lambda _: True)

    def better(results: Results) -> Outcome:
        stages = [m for m in variants if not is_variant(m) and not m.endswith("gate=oracle")]
        pairs = {m: pair(results, m, OURS).only(_HALVES["corrupted"]) for m in stages}
        here, parts = [], []
        for m, both in pairs.items():
            if np.array_equal(both.ours, both.theirs):  # our own stage under its name
                continue
            cost = both.figure(_change)
            parts.append(cost.value > 0.0)
            here.append(f"`{m}` {as_percent(cost)}")
        if not parts:
            raise NotRunError(f"another stage on the grid, such as `{OURS};gate=none`")
        return Outcome(", ".join(here), tuple(parts))

    asks = "corrupted mean rises with every other stage in place of ours (change of the mean over corrupted cells)"
    if not variants:
        return Section(title, [check(asks, better, results)])
    rows = [Row(label=m, entries=_means(results, m)) for m in (OURS, *variants)]
    columns = tuple(f"{label} {half}" for label in (*SETS.values(), "all") for half in ("clean", "hit"))
    means = Table(
        key="ablation", title=f"AbsRel of {OURS} with other stages or numbers", corner="method", columns=columns,
        about=f"Mean over clean and over corrupted cells (hit), on the images that the method shares with {OURS}.",
        rows=tuple(rows),
    )  # fmt: skip
    changes = Table(
        key="ablation-change", title=f"The same, change against {OURS}, percent", corner="method", columns=columns,
        about="Of the means above, on the same images; brackets: 95 % intervals.",
        rows=tuple(Row(label=m, entries=_changes(results, m)) for m in variants),
    )  # fmt: skip
    notes = [_fewer(results, variants)]
    return Section(title, [check(asks, better, results)], [means, changes], notes=[n for n in notes if n])


def _change(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    return np.asarray(ratio(ours, theirs) - 1.0)


def _parts(both: Pair) -> list[Pair | None]:
    """Clean and corrupted of each set, then of all."""
    found: list[Pair | None] = []
    for set_name in (*SETS, ""):
        for half in _HALVES.values():
            try:
                found.append(both.only(half, set_name=set_name))
            except NotRunError:
                found.append(None)
    return found


def _means(results: Results, method: str) -> tuple[Entry, ...]:
    parts = _parts(pair(results, method, OURS))
    return tuple(Entry(state=NOT_RUN) if p is None else Entry(value=float(p.ours.mean())) for p in parts)


def _changes(results: Results, method: str) -> tuple[Entry, ...]:
    parts = _parts(pair(results, method, OURS))
    return tuple(shown(None if p is None else p.figure(_change), 1, 100.0) for p in parts)


def _fewer(results: Results, variants: Sequence[str]) -> str:
    """What was run on fewer images or conditions than our method."""
    whole = pair(results, OURS, OURS)
    words = []
    for m in variants:
        own = pair(results, m, OURS)
        if own.images != whole.images or len(own.conditions) < len(whole.conditions):
            words.append(f"`{m}` {own.images}, {len(own.conditions)} of {len(whole.conditions)} conditions")
    return f"On fewer than `{OURS}` ({whole.images}): {'; '.join(words)}." if words else ""


@dataclass(frozen=True)
class LeftOut:
    """One set, and what the others would have chosen for it.

    Attributes:
        set_name: the one that is left out.
        chosen: lowest on the others: mean over their cells of AbsRel over the default's.
        gap: default's AbsRel over that of the chosen one, less 1, on the set itself; None where it is the default.
        own: lowest on the set itself, had one tuned on it.
        own_gap: what that would have bought.
    """

    set_name: str
    chosen: str
    gap: Estimate | None
    own: str
    own_gap: Estimate | None

    @property
    def holds(self) -> bool:
        return self.gap is None or self.gap.value <= _TOLERANCE


def leave_one_out(results: Results, variants: Sequence[str]) -> list[LeftOut]:
    """Each set in turn. A variant counts only where it was run in all sets that the default was run in.

    Raises:
        NotRunError: there is nothing to choose from, or no set to leave out.
    """
    pairs = {m: pair(results, m, OURS) for m in variants}
    sets = [s for s in SETS if any(c.set == s for c in pair(results, OURS, OURS).conditions)]
    whole = {m: both for m, both in pairs.items() if {c.set for c in both.conditions} == set(sets)}
    if not whole or len(sets) < 2:
        raise NotRunError(f"variants such as `{OURS};gate=consensus:amplitude=0.11` on two sets or more")
    found = []
    for left in sets:
        elsewhere = {m: _level(both.only(lambda c, s=left: c.set != s)) for m, both in whole.items()}  # type: ignore[misc]
        here = {m: _level(both.only(set_name=left)) for m, both in whole.items()}
        chosen, own = (_lowest(levels) for levels in (elsewhere, here))
        gaps = [_gap(results, m, left) for m in (chosen, own)]
        found.append(LeftOut(left, chosen, gaps[0], own, gaps[1]))
    return found


def _level(both: Pair) -> float:
    return float(regret(both.ours, both.theirs))


def _lowest(levels: dict[str, float]) -> str:
    best = min(levels, key=lambda m: levels[m])
    return best if levels[best] < 0.0 else OURS


def _gap(results: Results, method: str, set_name: str) -> Estimate | None:
    if method == OURS:
        return None
    return pair(results, OURS, method).only(set_name=set_name).figure(regret)


def one_for_all(results: Results) -> Section:
    """No number is tuned per set."""
    title = "g. No number tuned per set"
    asks = f"the variant that three sets choose is `{OURS}`, or `{OURS}` is within 1 % of it on the fourth"
    variants = _variants(results, is_variant)

    def judged(results: Results) -> Outcome:
        found = leave_one_out(results, variants)
        here = [
            f"{SETS[one.set_name]} `{one.chosen}`" + ("" if one.gap is None else f", {as_percent(one.gap)} to gain")
            for one in found
        ]
        return Outcome("; ".join(here), tuple(one.holds for one in found))

    checks = [check(asks, judged, results)]
    if not variants or checks[0].outcome is None:
        return Section(title, checks)
    rows = [Row(label=m, entries=_levels(results, m)) for m in variants]
    levels = Table(
        key="variants", title=f"AbsRel of variants against {OURS}, percent", corner="variant",
        columns=(*SETS.values(), "all"), rows=tuple(rows),
        about="Mean over the conditions of a set, clean ones once, of AbsRel over the default's, less 1; below zero "
        "the variant is better. Brackets: 95 % interval.",
    )  # fmt: skip
    left = [Row(label=SETS[one.set_name], entries=_choices(one)) for one in leave_one_out(results, variants)]
    chosen = Table(
        key="left-out", title="Each set left out in turn", corner="left out", rows=tuple(left),
        columns=("the others choose", "it would gain, %", "holds", "tuned on it", "that would gain, %"),
        about="What the other sets choose, and what it would gain over the default on the set that had no say; then "
        "what tuning on the set itself would gain.",
    )  # fmt: skip
    return Section(title, checks, [chosen, levels], notes=[f"{len(variants)} variants."])


def _levels(results: Results, method: str) -> tuple[Entry, ...]:
    both = pair(results, method, OURS)
    entries = []
    for set_name in (*SETS, ""):
        try:
            figure = both.only(set_name=set_name).figure(regret)
            entries.append(shown(figure, 1, 100.0))
        except NotRunError:
            entries.append(Entry(state=NOT_RUN))
    return tuple(entries)


def _choices(one: LeftOut) -> tuple[Entry, ...]:
    zero = Entry(value=0.0, decimals=1)
    gains = [zero if gap is None else shown(gap, 1, 100.0) for gap in (one.gap, one.own_gap)]
    words = [Entry(state=m.removeprefix(f"{OURS};")) for m in (one.chosen, one.own)]
    return words[0], gains[0], Entry(state="yes" if one.holds else "no"), words[1], gains[1]
