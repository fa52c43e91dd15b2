"""Every cell of a report in one CSV: all metrics, their spread over seeds, counts. For whoever makes other tables."""

import csv
import io
import math
from typing import Final

from mrac.lab.bench.report.bootstrap import mean_intervals
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.gate_f1 import IMAGE, POOLED, f1_image, f1_pooled
from mrac.lab.bench.report.labels import METRICS
from mrac.lab.bench.report.results import KEY

_OTHERS: Final = ("gate_precision", "gate_recall", "coverage_68", "coverage_90", "clipped_share")


def write_cells(context: Context) -> str:
    """A line per cell that is there or planned, seeds taken together."""
    results = context.results
    metrics = [name for name in (*METRICS, *_OTHERS) if name in results.columns]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            *KEY,
            "seeds",
            "missing_seeds",
            "images",
            "failed",
            *metrics,
            IMAGE,
            POOLED,
            "abs_rel_std",
            "abs_rel_low",
            "abs_rel_high",
        ]
    )
    for cell in sorted({*results.cells, *context.plan}):
        seeds = results.seeds(cell)
        missing = sorted(context.plan.get(cell, frozenset()) - set(seeds))
        means = {name: results.mean(name, cell) for name in metrics}
        first = means["abs_rel"]
        low, high = mean_intervals(results.matrix("abs_rel", [cell]), cell.set, context.seed)
        f1 = (f1_image(results, cell), f1_pooled(results, cell)) if "gate_f1" in results.columns else (None, None)
        values = [*(means[name].value for name in metrics), *f1, first.spread, low[0], high[0]]
        writer.writerow(
            [*(getattr(cell, name) for name in KEY), " ".join(map(str, seeds)), " ".join(map(str, missing))]
            + [first.num_images, first.num_failed]
            + ["" if value is None or math.isnan(value) else f"{value:.6g}" for value in values]
        )
    return text.getvalue()
