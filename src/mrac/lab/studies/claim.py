"""A claim of the paper, and what the rows of our runs say about it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.lab.bench.report.results import KEY, CellKey, Results

# What takes the place of the paper's sets; TUM stands where DIODE stood.
SETS: Final = {"nyu": "NYUv2", "kitti15": "KITTI-15", "sunrgbd": "SUN RGB-D", "tum": "TUM"}
FAMILIES: Final = ("uniform", "near", "dropout", "mixed_pixel")
FRACTIONS: Final = (0.0, 0.1, 0.25, 0.4)
SEEDS: Final = (0, 1, 2)
LEARNER: Final = "sml_retrained"
"""Stands for VI-Depth: its published weights cannot be had everywhere."""

FIVE: Final = ("vanilla", "b_prime", "mrac", "mrac_b_prime", LEARNER)
NOT_MEASURED: Final = "not measured"


class NotRunError(LookupError):
    """A claim asks for a cell that is in none of the runs."""


@dataclass(frozen=True)
class Outcome:
    """What was measured.

    Attributes:
        here: the figures, in a line.
        parts: the conditions that the claim consists of, and whether each is met; none where nothing could be judged.
    """

    here: str
    parts: tuple[bool, ...]

    @property
    def verdict(self) -> str:
        """All, some or none of the parts; without one nothing was measured, which is no pass."""
        if not self.parts:
            return NOT_MEASURED
        if all(self.parts):
            return "holds"
        return f"in part ({sum(self.parts)} of {len(self.parts)})" if any(self.parts) else "does not hold"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper says and how it is tested.

    Attributes:
        name: of its own, under which the unit test has the figures that pass it and those that fail it.
        place: where in the paper.
        says: the claim, with the paper's own figures.
        holds_when: the test in words: one that the paper's own figures pass, wherever it prints them.
        protocol: whose runs it needs.
        test: the same test in code; raises `NotRunError` where a cell is missing.
    """

    name: str
    place: str
    says: str
    holds_when: str
    protocol: str
    test: Callable[[Results], Outcome]


def column(results: Results, name: str, cell: CellKey, seed: int = 0) -> FloatArray:
    """(N,) of a cell in the order of image ids, NaN where an image failed.

    Raises:
        NotRunError: the cell has no rows.
    """
    values = results.column(name, cell, seed)
    if not values.size:
        raise NotRunError(f"{_named(cell.stored)}, seed {seed}")
    return values


def _named(cell: CellKey) -> str:
    """What differs from the paper's default alone."""
    default = CellKey(set=cell.set, method=cell.method)
    others = [f"{n} {getattr(cell, n)}" for n in KEY if getattr(cell, n) != getattr(default, n)]
    return ", ".join([f"`{cell.method}` on {SETS.get(cell.set, cell.set)}", *others])


def mean(results: Results, metric: str, cell: CellKey, seeds: Sequence[int] = (0,)) -> float:
    """Over images, then over seeds, all of which must have been run; NaN, which wins nothing, where no image has it."""
    by_seed = [column(results, metric, cell, seed) for seed in seeds]
    return float(np.mean([np.mean(values[np.isfinite(values)]) if np.isfinite(values).any() else np.nan
                          for values in by_seed]))  # fmt: skip


def abs_rel(results: Results, cell: CellKey, seeds: Sequence[int] = (0,)) -> float:
    """Mean AbsRel."""
    return mean(results, "abs_rel", cell, seeds)


def seeds_of(results: Results, cells: Iterable[CellKey]) -> tuple[int, ...]:
    """The paper's three seeds where each of the cells has them, else the first alone."""
    return SEEDS if all(set(SEEDS) <= set(results.seeds(cell)) for cell in cells) else SEEDS[:1]


def failures(results: Results, cell: CellKey, seed: int = 0) -> int:
    """How many images of a cell have no score."""
    return int(np.count_nonzero(results.column("failure", cell, seed) != ""))


def grid(
    sets: Sequence[str] = tuple(SETS), families: Sequence[str] = FAMILIES, fractions: Sequence[float] = FRACTIONS
) -> list[CellKey]:
    """Conditions as the paper counts them: the clean one comes once per family."""
    return [CellKey(set=s, method="", family=f, fraction=p) for s in sets for f in families for p in fractions]


def strict_wins(results: Results, ours: str, theirs: str, conditions: Iterable[CellKey]) -> list[bool]:
    """For every condition: whether our mean AbsRel is under theirs; an equal one, or none at all, is no win."""
    return [abs_rel(results, replace(c, method=ours)) < abs_rel(results, replace(c, method=theirs)) for c in conditions]


def by_set(values: dict[str, float], digits: int = 3) -> str:
    """`NYUv2 0.104, KITTI-15 0.133`."""
    return ", ".join(f"{SETS.get(name, name)} {number(value, digits)}" for name, value in values.items())


def number(value: float, digits: int = 3) -> str:
    """A figure of a table; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"
