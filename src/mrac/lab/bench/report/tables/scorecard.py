"""Table III: strict wins over the grid, with intervals, by family and set, and every method against every other."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import SHORT, family_label, method_label, paper_set, set_label, short
from mrac.lab.bench.report.paper import Printed
from mrac.lab.bench.report.setting import differences
from mrac.lab.bench.report.table import MISSING, NOT_RUN, Entry, Row, Table
from mrac.lab.bench.report.wins import Comparison, Wins, count_wins

# The paper's pairs; "learner" is VI-Depth where it was run, else the one that stands for it.
_PAIRS: Final = (
    ("mrac", "vanilla"),
    ("mrac_b_prime", "b_prime"),
    ("b_prime", "vanilla"),
    ("learner", "b_prime"),
    ("mrac_b_prime", "learner"),
    ("default", "mrac_b_prime"),
    ("default", "learner"),
)


def tables(context: Context) -> list[Table]:
    """The scorecard of the paper's pairs and ours, its parts, and the matrix of all pairs."""
    methods, sets, families = _methods(context), _sets(context), _families(context)
    if len(methods) < 2 or not families:
        return []
    learner = "vi_depth" if "vi_depth" in methods else "sml_retrained"
    named = [(learner if a == "learner" else a, learner if b == "learner" else b) for a, b in _PAIRS]
    pairs = [(a, b) for a, b in named if a in methods and b in methods]
    found = [make(context, pairs) for make in (_scorecard, _by_family, _by_set)] if pairs else []
    return [*found, _matrix(context, methods, sets, families)]


def _methods(context: Context) -> list[str]:
    """Those of the grid; not a variant that a study has under fewer conditions: it would be counted out of fewer."""
    sizes = {m: _num_corrupted(context, m) for m in context.methods()}
    return [m for m, size in sizes.items() if size and (";" not in m or size == max(sizes.values()))]


def _num_corrupted(context: Context, method: str) -> int:
    return sum(
        len(context.grid_names("fraction", method=method, family=family, set=name))
        for family in FAMILIES
        for name in context.grid_names("set", method=method, family=family)
    )


def _sets(context: Context) -> list[str]:
    found = {name for family in FAMILIES for name in context.grid_names("set", family=family)}
    return [name for name in context.grid_names("set") if name in found]


def _families(context: Context) -> list[str]:
    found = context.grid_names("family")
    return [family for family in FAMILIES if family in found]


def _scorecard(context: Context, pairs: list[tuple[str, str]]) -> Table:
    sets, families = _sets(context), _families(context)
    rows, counts = [], []
    for a, b in pairs:
        wins = count_wins(context, Comparison(method=a, against=b, sets=sets, families=families))
        counts.append(wins)
        share = 100.0 * wins.wins / wins.cells if wins.cells else float("nan")
        rows.append(
            Row(
                label=_versus(a, b),
                entries=(
                    _counted(wins.wins, wins.cells, wins.missing, printed=_paper_wins(context, a, b)),
                    Entry(value=share, decimals=0) if wins.cells else Entry(state=NOT_RUN),
                    Entry(state=f"[{wins.low}, {wins.high}]" if wins.cells else NOT_RUN),
                    _counted(wins.distinct_wins, wins.distinct_cells, 0),
                ),
                paper_label=_paper_label(context, a, b),
            )
        )
    return Table(
        key="scorecard",
        title="Table III: strict wins, cell by cell",
        about=(
            "A win is a lower AbsRel, mean over images, in a cell of set × family × fraction, first seed. As in the "
            "paper a clean cell counts once for each family; the last column counts it once. The interval is of the "
            "count, 1000 resamplings of the images of each set, the same for both methods."
        ),
        corner="comparison",
        columns=("wins", "%", "95 % interval", "distinct cells"),
        rows=tuple(rows),
        notes=_short(counts),
        differences=differences(context, sets, [name for pair in pairs for name in pair]),
    )


def _by_family(context: Context, pairs: list[tuple[str, str]]) -> Table:
    sets, families = _sets(context), _families(context)
    rows, corrupted = [], []
    for a, b in pairs:
        entries = []
        for family in families:
            wins = count_wins(context, Comparison(method=a, against=b, sets=sets, families=[family]))
            printed = _paper_wins(context, a, b, family=family)
            entries.append(_counted(wins.wins, wins.cells, wins.missing, printed=printed))
        rows.append(Row(label=_versus(a, b), entries=tuple(entries), paper_label=_paper_label(context, a, b)))
        if "near" in families:
            near = Comparison(method=a, against=b, sets=sets, families=["near"], corrupted=True)
            wins = count_wins(context, near)
            corrupted.append(f"{_versus(a, b)} {wins.wins}/{wins.cells}")
    return Table(
        key="scorecard_families",
        title="Table III by family",
        about="Counted as above.",
        corner="comparison",
        columns=tuple(SHORT.get(f, family_label(f)) for f in families),
        rows=tuple(rows),
        notes=(f"Near, corrupted cells alone: {'; '.join(corrupted)}.",) if corrupted else (),
    )


def _by_set(context: Context, pairs: list[tuple[str, str]]) -> Table:
    sets, families = _sets(context), _families(context)
    rows = []
    for a, b in pairs:
        entries = []
        for name in sets:
            wins = count_wins(context, Comparison(method=a, against=b, sets=[name], families=families))
            printed = _paper_wins(context, a, b, set_name=paper_set(name) or "none")
            entries.append(_counted(wins.wins, wins.cells, wins.missing, printed=printed))
        rows.append(Row(label=_versus(a, b), entries=tuple(entries), paper_label=_paper_label(context, a, b)))
    return Table(
        key="scorecard_sets",
        title="Table III by set",
        about="Counted as above.",
        corner="comparison",
        columns=tuple(map(set_label, sets)),
        rows=tuple(rows),
        differences=differences(context, sets, [name for pair in pairs for name in pair]),
    )


def _matrix(context: Context, methods: list[str], sets: list[str], families: list[str]) -> Table:
    rows, counts = [], []
    for a in methods:
        entries = []
        for b in methods:
            if a == b:
                entries.append(Entry(state="·"))
                continue
            wins = count_wins(context, Comparison(method=a, against=b, sets=sets, families=families))
            counts.append(wins)
            entries.append(_counted(wins.wins, None if wins.cells else 0, wins.missing))
        rows.append(Row(label=method_label(a), entries=tuple(entries)))
    cells = max((wins.cells for wins in counts), default=0)
    return Table(
        key="win_matrix",
        title="Every method against every other",
        about=f"In how many of {cells} cells the method of the row has a lower AbsRel than that of the column.",
        corner="wins of",
        columns=tuple(short(m) for m in methods),
        rows=tuple(rows),
        notes=_short(counts),
    )


def _counted(wins: int, cells: int | None, missing: int, *, printed: Printed | None = None) -> Entry:
    """`54/64`, or why there is no count; without `cells` the wins alone."""
    if cells == 0:
        return Entry(state=MISSING if missing else NOT_RUN, paper=printed, num_missing=missing)
    text = f"{wins}" if cells is None else f"{wins}/{cells}"
    return Entry(state=text, paper=printed, num_missing=missing)


def _versus(a: str, b: str) -> str:
    return f"{method_label(a)} vs {method_label(b)}"


def _paper_wins(context: Context, a: str, b: str, family: str = "", set_name: str = "") -> Printed | None:
    theirs = context.counterpart(a), context.counterpart(b)
    for printed in context.paper.wins if context.paper else ():
        which = (printed.method, printed.against, printed.family, printed.set, printed.corrupted)
        if which == (*theirs, family, set_name, False):
            return Printed(f"{printed.wins}/{printed.cells}", printed.where)
    return None


def _paper_label(context: Context, a: str, b: str) -> str:
    return next((label for label in map(context.paper_label, (a, b)) if label != "paper"), "paper")


def _short(counts: list[Wins]) -> tuple[str, ...]:
    notes = []
    missing, failed = sum(wins.missing for wins in counts), sum(wins.failed for wins in counts)
    if missing:
        notes.append(
            f"{missing} comparisons of cells are missing: one of the two was not run there, or is not finished."
        )
    if failed:
        notes.append(f"{failed} pairs of image results have a failure in them, and are left out of both means.")
    return tuple(notes)
