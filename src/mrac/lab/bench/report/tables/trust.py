"""Readings where real sensors have them, and foundations that fail: is the default still to be trusted?"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import SENSORS as PLACEMENTS
from mrac.lab.bench.report.labels import corruption_label, fault, fault_label, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Entry, Row, Table
from mrac.lab.bench.report.trust import FAILING, NO_GATE, NO_NETWORK, OWN, SENSORS, Bar, trust_of

_NEEDED: Final = ("num_anchors_given", "num_wrong", "num_rejected", "gate_recall", "coverage_90", "status")
_CLEAN: Final[dict[str, Any]] = {"family": CLEAN, "fraction": 0.0, "source": "truth"}


def tables(context: Context) -> list[Table]:
    """One for the placements of sensors, one for foundations that fail, sets as groups; each where it was run."""
    if any(name not in context.results.columns for name in _NEEDED):
        return []
    return [table for table in (_sensors(context), _failing(context)) if table.rows]


def _sensors(context: Context) -> Table:
    rows = []
    for cell in _sensor_cells(context):
        rivals = [cell.with_method(method) for method in (NO_GATE, NO_NETWORK)]
        label = f"{PLACEMENTS.get(cell.placement, cell.placement)}, K = {cell.num_anchors}"
        rows.append(_row(context, label, SENSORS, cell, rivals))
    table = Table(
        key="sensors",
        title="Clean readings where real sensors have them: is the default to be trusted?",
        about=(
            "Means over images. The bar: 95 % of the readings are kept, AbsRel is at most 1.03 times the lower of the "
            "two beside it, and the 90 % interval holds 85 to 95 % of the pixels."
        ),
        columns=_columns("no gate", "no network"),
        rows=tuple(rows),
        corner="readings",
    )
    return finished(context, table, "", sets=[], methods=[])


def _sensor_cells(context: Context) -> Iterator[CellKey]:
    """Of the default, for sets on which a sensor's placement was run with its rivals; random at the same K only."""
    for set_name in context.names("set", **_CLEAN):
        rival = {"set": set_name, "method": NO_GATE, **_CLEAN}
        found = context.names("placement", **rival)
        budgets = {p: context.names("num_anchors", placement=p, **rival) for p in found if p in PLACEMENTS}
        of_sensors = {K for placement, own in budgets.items() if placement != "random" for K in own}
        for placement in (placement for placement in PLACEMENTS if placement in budgets):
            for K in budgets[placement]:
                if K in of_sensors:
                    yield CellKey(set=set_name, method=OWN, placement=placement, num_anchors=K)


def _failing(context: Context) -> Table:
    rows = []
    for set_name in context.grid_names("set"):
        faulty = [method for method in context.grid_names("method", set=set_name) if fault(method)]
        found = {
            (family, fraction)
            for method in faulty
            for family in context.grid_names("family", set=set_name, method=method)
            for fraction in context.grid_names("fraction", set=set_name, method=method, family=family)
        }
        for family, fraction in sorted(found, key=lambda pair: (pair[1], pair[0])):
            cell = CellKey(set=set_name, method=NO_NETWORK, family=family, fraction=fraction)
            for method in (OWN, *faulty):
                label = f"{fault_label(method)}, {corruption_label(family, fraction)}"
                rows.append(_row(context, label, FAILING, cell.with_method(method), [cell]))
    table = Table(
        key="failing",
        title="Foundations that fail: is the default to be trusted?",
        about=(
            "Means over images, K = 50. The bar: 93 % of the right readings are kept, and AbsRel is at most 1.03 times "
            "that without a network."
        ),
        columns=_columns("no network"),
        rows=tuple(rows),
        corner="field, readings",
    )
    return finished(context, table, "", sets=[], methods=[])


def _columns(*rivals: str) -> tuple[str, ...]:
    return ("right kept, %", "AbsRel", *rivals, "within 90 % interval, %", "images", "status", "bar")


def _row(context: Context, label: str, bar: Bar, cell: CellKey, rivals: Sequence[CellKey]) -> Row:
    columns, rows = context.results.columns, context.results.rows
    own, *others = (trust_of(columns, rows(one)) for one in (cell, *rivals))
    errors = tuple(context.entry(one, files=()) for one in (cell, *rivals))
    group = set_label(cell.set)
    if not own.num_images:
        absent = Entry(state=errors[0].state)
        return Row(label=label, entries=(absent, *errors, *[absent] * 4), group=group)
    kept, coverage = (Entry(value=100.0 * share, decimals=0) for share in (own.kept, own.coverage))
    statuses = ", ".join(f"{status} {count}" for status, count in own.statuses.most_common())
    missed = bar.missed(own, [other.abs_rel for other in others])
    verdict = f"missed: {', '.join(missed)}" if missed else "holds"
    images = Entry(value=float(own.num_images), decimals=0)
    return Row(
        label=label,
        entries=(kept, *errors, coverage, images, Entry(state=statuses), Entry(state=verdict)),
        group=group,
    )
