"""F1 of the gates' verdicts, in its two readings, which differ: named wherever a figure stands.

f1_image: 2 · caught / (wrong + rejected) of each image, then the mean over images with a wrong or a rejected anchor.
f1_pooled: the same ratio of the sums over all anchors of a cell; an image counts by its anchors.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from mrac.lab.bench.report.results import CellKey, Results

IMAGE: Final = "f1_image"
POOLED: Final = "f1_pooled"
COLUMN_OF: Final = {IMAGE: "gate_f1", POOLED: "gate_f1"}
"""The column of the rows in which each is missing where there is none."""


class Pooled(NamedTuple):
    """Over all anchors of a cell at once; NaN where there is nothing to be right about."""

    precision: float
    recall: float
    f1: float


def f1_image(results: Results, cell: CellKey, seeds: Iterable[int] | None = None) -> float:
    """Mean over images, then over seeds; NaN where no image has one."""
    value = results.mean("gate_f1", cell, seeds).value
    return np.nan if value is None else value


def f1_pooled(results: Results, cell: CellKey, seeds: Iterable[int] | None = None) -> float:
    """Of all anchors of all images and seeds."""
    return pooled(results, cell, seeds).f1


def pooled(results: Results, cell: CellKey, seeds: Iterable[int] | None = None) -> Pooled:
    """Precision, recall and F1 from the rows' counts; seeds: None takes all."""
    caught = rejected = wrong = 0.0
    for seed in results.seeds(cell) if seeds is None else seeds:
        recall, num_wrong, num_rejected = (
            results.column(name, cell, seed) for name in ("gate_recall", "num_wrong", "num_rejected")
        )
        counted = np.isfinite(num_rejected)  # an image that failed has no verdicts
        wrong += float(np.nansum(num_wrong[counted]))
        caught += float(np.nansum((recall * num_wrong)[counted]))
        rejected += float(np.nansum(num_rejected))
    of = [(caught, rejected), (caught, wrong), (2.0 * caught, wrong + rejected)]
    return Pooled(*(a / b if b else np.nan for a, b in of))
