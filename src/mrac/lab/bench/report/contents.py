"""The order of a report: sections, and which tables and figures stand in each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures import blind_spot, gate, propagation, robustness, sweeps, teaser
from mrac.lab.bench.report.figures import cost as cost_figure
from mrac.lab.bench.report.figures import coverage as coverage_figure
from mrac.lab.bench.report.figures import real as real_figure
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.tables import (
    budget,
    clean,
    complete,
    cost,
    coverage,
    foundations,
    gates,
    headline,
    kappa,
    losses,
    noise,
    overview,
    placement,
    real,
    scorecard,
    trust,
)
from mrac.lab.bench.report.tables import propagation as propagation_table


@dataclass(frozen=True)
class Section:
    """One heading.

    Attributes:
        title: of it.
        tables: below it.
        figures: below them.
    """

    title: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


_Tables = Callable[[Context], list[Table]]
_Figures = Callable[[Context], list[Figure]]
_SECTIONS: Final[tuple[tuple[str, tuple[_Tables, ...], tuple[_Figures, ...]], ...]] = (
    ("Robustness to wrong readings", (headline.tables, scorecard.tables, overview.tables), (robustness.figures,)),
    ("Clean readings", (clean.tables,), ()),
    ("Studies", (budget.tables, placement.tables, noise.tables, losses.tables), (sweeps.figures,)),
    ("The gate", (kappa.tables, gates.tables), (gate.figures,)),
    ("Real readings, nothing injected", (real.tables,), (real_figure.figures,)),
    ("Other foundations", (foundations.tables,), ()),
    ("Sensors' patterns and failing foundations", (trust.tables,), ()),
    ("Stated uncertainty", (coverage.tables,), (coverage_figure.figures,)),
    ("Cost", (cost.tables,), (cost_figure.figures,)),
    ("Complete tables", (complete.tables,), ()),
)


def sections(context: Context, scenes: Scenes | None = None, *, photos: bool = False) -> list[Section]:
    """What the runs give; a section that nothing was run for is left out.

    Args:
        context: of the report.
        scenes: the runs' frames, for what must be computed on images again.
        photos: also the figures that show them.
    """
    made = [
        Section(
            title,
            tuple(table for make in tables for table in make(context)),
            tuple(figure for make in figures for figure in make(context)),
        )
        for title, tables, figures in _SECTIONS
    ]
    if scenes is not None:
        wanted = (teaser.figures, blind_spot.figures, propagation.figures) if photos else (propagation.figures,)
        figures = [figure for make in wanted for figure in make(context, scenes)]
        made.insert(1, Section("On images", tuple(propagation_table.tables(context, scenes)), tuple(figures)))
    return [section for section in made if section.tables or section.figures]
