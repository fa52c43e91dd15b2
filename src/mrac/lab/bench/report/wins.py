"""Strict wins, cell by cell, of one method against another, and how sure the count is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.bootstrap import NUM_RESAMPLES, interval, weights
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.results import CellKey


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Which cells of the paper's grid are counted.

    Attributes:
        method: whose wins.
        against: whom.
        sets: of the runs.
        families: of outliers; the clean cell counts once for each, as in the paper.
        corrupted: leave the clean cells out.
    """

    method: str
    against: str
    sets: Sequence[str]
    families: Sequence[str]
    corrupted: bool = False


@dataclass(frozen=True)
class Wins:
    """Cells in which one method's AbsRel, mean over images, is under the other's; an equal one is no win.

    Attributes:
        wins: how many.
        cells: of how many, counting as the paper does.
        low: end of the 95 % interval under resampling of the images of each set.
        high: the other.
        distinct_wins: how many, each clean cell counted once.
        distinct_cells: of how many.
        missing: cells that could not be compared.
        failed: image results of the pair that failed; a pair is compared on the images that both have.
    """

    wins: int
    cells: int
    low: int
    high: int
    distinct_wins: int
    distinct_cells: int
    missing: int
    failed: int


def count_wins(context: Context, comparison: Comparison) -> Wins:
    """Counts them on the first seed of each cell."""
    wins = distinct = cells = distinct_cells = missing = failed = 0
    resampled = np.zeros(NUM_RESAMPLES)
    for set_name in comparison.sets:
        counted = _conditions(context, set_name, comparison)
        pairs = [_difference(context, where, comparison) for where, _ in counted]
        there = [i for i, (_, values) in enumerate(pairs) if np.isfinite(values).any()]
        missing += sum(times for i, (_, times) in enumerate(counted) if i not in there)
        if not there:
            continue
        images = np.unique(np.concatenate([pairs[i][0] for i in there]))
        values = np.zeros((len(there), len(images)))
        for row, i in zip(values, there, strict=True):
            # Zero in place of a pair that failed: only the sign of a sum counts.
            row[np.searchsorted(images, pairs[i][0])] = np.nan_to_num(pairs[i][1])
            failed += int(np.isnan(pairs[i][1]).sum())
        times = np.array([counted[i][1] for i in there])
        won = values.sum(axis=1) < 0.0
        resampled += (weights(len(images), set_name, context.seed) @ values.T < 0.0) @ times
        wins, distinct = wins + int(won @ times), distinct + int(won.sum())
        cells, distinct_cells = cells + int(times.sum()), distinct_cells + len(there)
    low, high = interval(resampled)
    return Wins(wins, cells, int(low), int(high), distinct, distinct_cells, missing, failed)


def _conditions(context: Context, set_name: str, comparison: Comparison) -> list[tuple[CellKey, int]]:
    """The conditions of a set in the runs' grid, and how often each counts."""
    fractions = [p for p in context.grid_names("fraction", set=set_name) if p > 0.0]
    found = [
        (CellKey(set=set_name, method="", family=family, fraction=p), 1)
        for family in comparison.families
        for p in fractions
        if context.grid_names("method", set=set_name, family=family, fraction=p)
    ]
    families = {where.family for where, _ in found}
    clean = bool(context.grid_names("method", set=set_name, family=CLEAN)) and not comparison.corrupted
    return [*([(CellKey(set=set_name, method=""), len(families))] if clean and families else []), *found]


def _difference(context: Context, where: CellKey, comparison: Comparison) -> tuple[NDArray[np.str_], FloatArray]:
    """Image ids and ours minus theirs, NaN where one of them failed; empty where a cell is missing."""
    results = context.results
    cells = [where.with_method(name) for name in (comparison.method, comparison.against)]
    seeds = [results.seeds(cell)[:1] for cell in cells]
    if not all(seeds) or seeds[0] != seeds[1]:
        return np.array([], np.str_), np.array([])
    (seed,) = seeds[0]
    (ours, theirs), (a, b) = ([results.column(name, cell, seed) for cell in cells] for name in ("image", "abs_rel"))
    images, i, j = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return images, a[i] - b[j]
