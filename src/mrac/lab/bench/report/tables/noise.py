"""Ordinary noise on every reading (Sec. VI-D): what averages out, and for whom."""

import re
from typing import Final

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table

_SIGMA: Final = re.compile(r"^gaussian:(?:.*,)?sigma_m=([0-9.eE+-]+)")
_CLAIM: Final = "The paper prints no table: it says that AbsRel stays within 0.001 from σ = 0.05 to 0.5 m."


def levels(context: Context, set_name: str) -> dict[float, str]:
    """σ in metres to the family of that noise, of all that were run on a set."""
    found = {}
    for family in context.grid_names("family", set=set_name, fraction=1.0):
        matched = _SIGMA.match(family)
        if matched:
            found[float(matched[1])] = family
    return dict(sorted(found.items()))


def tables(context: Context) -> list[Table]:
    """A table per set; the first column is clean."""
    found = []
    for set_name in context.grid_names("set"):
        noise = levels(context, set_name)
        if not noise:
            continue
        methods = context.methods(set=set_name, fraction=1.0)
        cells = [CellKey(set=set_name, method="")]
        cells += [CellKey(set=set_name, method="", family=family, fraction=1.0) for family in noise.values()]
        seeds = context.common_seed(cell.with_method(m) for cell in cells for m in methods)
        table = Table(
            key=f"noise_{set_name}",
            title=f"Gaussian noise on every reading (Sec. VI-D), {set_label(set_name)}",
            about="AbsRel, K = 50, noise of standard deviation σ in metres. Lower is better.",
            columns=("clean", *(f"σ {sigma:g}" for sigma in noise)),
            rows=tuple(context.row(m, cells, seeds=seeds, files=()) for m in methods),
            notes=(_CLAIM,) if context.paper else (),
        )
        found.append(finished(context, table, "lower", sets=[set_name], methods=methods))
    return found
