"""What every table and figure is built from: the runs' rows, their plans, and the paper's numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.provenance import choices
from mrac.lab.bench.report.ablation import Ablation
from mrac.lab.bench.report.gate_f1 import COLUMN_OF, POOLED, f1_pooled
from mrac.lab.bench.report.labels import METHODS, SETS, is_swept, method_label, ordered, paper_set
from mrac.lab.bench.report.paper import Paper, Printed
from mrac.lab.bench.report.results import KEY, CellKey, Results
from mrac.lab.bench.report.table import FAILED, MISSING, NOT_RUN, Entry, Row

Plan = Mapping[CellKey, frozenset[int]]
"""Which seeds of which cells the protocols ask for."""

FAMILIES: Final = ("uniform", "near", "dropout", "mixed_pixel")
# Ours that stands for a method of the paper where that one was not run itself.
_STAND_INS: Final = {"sml_retrained": "vi_depth"}


@dataclass(frozen=True, kw_only=True)
class Context:
    """One or more runs, read.

    Attributes:
        results: their rows.
        plan: what their protocols ask for.
        runs: their run.json.
        paper: to compare with, or None.
        seed: of resampling.
        notes: what concerns all tables.
        ablation: of `mrac train ablation`, or None.
        repeated: rows that were not taken because an earlier run has their cell.
    """

    results: Results
    plan: Plan = field(default_factory=dict)
    runs: tuple[Mapping[str, Any], ...] = ()
    paper: Paper | None = None
    seed: int = 0
    notes: tuple[str, ...] = ()
    ablation: Ablation | None = None
    repeated: int = 0

    @cached_property
    def _keys(self) -> frozenset[CellKey]:
        return self.results.cells | frozenset(self.plan)

    @cached_property
    def _named(self) -> dict[tuple[Any, ...], list[Any]]:
        """What `names` has answered: tables ask the same thousands of times."""
        return {}

    def names(self, column: str, **where: Any) -> list[Any]:
        """Values of a column of `CellKey` that the runs have or should have, in the order of the labels."""
        asked = (column, *sorted(where.items()))
        if asked not in self._named:
            wanted = where.items()
            found = {getattr(key, column) for key in self._keys if all(getattr(key, k) == v for k, v in wanted)}
            known = {"method": METHODS, "set": SETS}.get(column)
            self._named[asked] = sorted(found) if known is None else ordered(found, known)
        return list(self._named[asked])

    def grid_names(self, column: str, **where: Any) -> list[Any]:
        """The same among cells of the paper's kind: K = 50, at random, from truth."""
        return self.names(column, num_anchors=50, placement="random", source="truth", **where)

    def methods(self, **where: Any) -> list[str]:
        """The methods of the grid; points of a study have tables of their own."""
        return [method for method in self.grid_names("method", **where) if not is_swept(method)]

    def has(self, cell: CellKey) -> bool:
        """Whether the cell is there or should be."""
        return self.results.has(cell) or cell.stored in self.plan

    def common_seed(self, cells: Iterable[CellKey]) -> list[int] | None:
        """The first seed that all of the cells that are there have, so that a study compares like with like.

        None, which stands for all seeds, where they have none in common.
        """
        found = [frozenset(seeds) for cell in cells if (seeds := self.results.seeds(cell))]
        return sorted(frozenset.intersection(*found))[:1] or None if found else None

    def printed(self, cell: CellKey, metric: str = "abs_rel", files: Iterable[str] | None = None) -> Printed | None:
        """What the paper prints for one of our cells."""
        if self.paper is None or cell.source != "truth":
            return None
        theirs = replace(cell, set=paper_set(cell.set), method=self.counterpart(cell.method))
        return self.paper.number(theirs, metric) if files is None else self.paper.number(theirs, metric, files)

    def counterpart(self, method: str) -> str:
        """The paper's name of a method: its own, or that of the one it stands for."""
        name = _STAND_INS.get(method, method)
        return method if name != method and name in self.names("method") else name

    def paper_label(self, method: str) -> str:
        """Heads the paper's numbers of a method."""
        theirs = self.counterpart(method)
        return "paper" if theirs == method else f"paper, {METHODS[theirs]}"

    def entry(
        self,
        cell: CellKey,
        metric: str = "abs_rel",
        *,
        seeds: Iterable[int] | None = None,
        decimals: int = 3,
        files: Sequence[str] | None = None,
    ) -> Entry:
        """The entry of a cell: its mean, or why there is none, and the paper's number.

        Args:
            cell: which.
            metric: a column of numbers, or one of `gate_f1`.
            seeds: to take the mean over; None takes all.
            decimals: to show.
            files: of the paper's numbers to look in; None for all.
        """
        mean = self.results.mean(COLUMN_OF.get(metric, metric), cell, seeds)
        if metric == POOLED and mean.value is not None:
            mean = replace(mean, value=f1_pooled(self.results, cell, seeds), spread=None)
        planned = self.plan.get(cell.stored, frozenset())
        wanted = planned if seeds is None else planned & frozenset(seeds)
        missing = len(wanted - frozenset(self.results.seeds(cell)))
        state = ""
        if mean.value is None:
            state = FAILED if mean.num_images else MISSING if missing else NOT_RUN
        return Entry(
            value=mean.value,
            spread=mean.spread,
            paper=self.printed(cell, metric, files),
            state=state,
            decimals=decimals,
            num_images=mean.num_images,
            num_failed=mean.num_failed,
            num_missing=missing,
        )

    def row(
        self,
        method: str,
        conditions: Iterable[CellKey],
        metric: str = "abs_rel",
        *,
        seeds: Iterable[int] | None = None,
        files: Sequence[str] | None = None,
        label: str = "",
        group: str = "",
    ) -> Row:
        """The row of a method: its entry under each condition, whichever method the conditions name.

        Args:
            method: whose.
            conditions: one per column.
            metric: as `entry` takes it, like `seeds` and `files`.
            seeds: to take the mean over.
            files: of the paper's numbers; an empty list is a row without them.
            label: the method's own where it is empty.
            group: heading of the row.
        """
        cells = [condition.with_method(method) for condition in conditions]
        return Row(
            label=label or method_label(method),
            entries=tuple(self.entry(cell, metric, seeds=seeds, files=files) for cell in cells),
            group=group,
            paper_label="paper" if files == () else self.paper_label(method),
        )


def planned_cells(runs: Iterable[Mapping[str, Any]]) -> Plan:
    """What the commands in the runs' run.json asked for of their protocols: no more is missing where it is not there.

    Raises:
        ContractError: a method or family of a protocol is not installed here.
    """
    plan: dict[CellKey, set[int]] = {}
    for run in runs:
        protocol = Protocol.of({name: value for name, value in run["protocol"].items() if value is not None})
        for cell in (cell for chosen in choices(run) for cell in protocol.choose(chosen).cells()):
            columns = cell.condition.columns | {"method": cell.method}
            key = CellKey(**{name: columns[name] for name in KEY})
            plan.setdefault(key, set()).add(cell.condition.seed)
    return {key: frozenset(seeds) for key, seeds in plan.items()}
