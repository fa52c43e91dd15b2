"""AbsRel over the share of readings that are really wrong: nothing injected."""

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, draw_panels
from mrac.lab.bench.report.figures.robustness import shown
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.figures.sweeps import line
from mrac.lab.bench.report.labels import method_label, set_label
from mrac.lab.bench.report.tables import real


def figures(context: Context) -> list[Figure]:
    """One, a panel per sensor, where real readings were run."""
    panels = []
    for set_name, source in real.studied(context):
        cells = [c for c in real.conditions(context, set_name, source) if c.family == "enriched"]
        series = [
            line(
                m,
                method_label(m),
                [100.0 * c.fraction for c in cells],
                [context.entry(c.with_method(m)) for c in cells],
            )
            for m in shown(real.methods_of(context, set_name, source))
        ]
        if len(cells) > 1:
            panels.append(Panel(title=f"{set_label(set_name)}, {real.source_label(source)}", series=series))
    if not panels:
        return []
    axis = Axis(label="share of really wrong readings, %")
    return [
        Figure(
            "real",
            "Real outliers, nothing injected",
            "Readings of real sensors, the wrong ones drawn from those that are more than 10 % off. Bands are ± 1 "
            "standard deviation over seeds.",
            lambda: draw_panels(panels, axis, Axis(label="AbsRel", log=True)),
        )
    ]
