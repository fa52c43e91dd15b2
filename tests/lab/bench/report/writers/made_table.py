"""One table that has all there is: groups, the paper's numbers, what is missing, and every awkward character."""

from mrac.lab.bench.report.paper import Printed
from mrac.lab.bench.report.table import FAILED, MISSING, Entry, Row, Table

AWKWARD = "50 % of a_b & c$d#e {f} ~g ^h \\i <j> |k| *l* `m` [n](o) κ ± δ₁ B′"

TABLE = Table(
    key="made_table",
    title="Table I: a_b & 25 %",
    about=f"Shows {AWKWARD}.",
    corner="method",
    columns=("NYUv2", "KITTI-15", "a|b"),
    rows=(
        Row(
            label="vanilla",
            entries=(
                Entry(value=0.347123456, spread=0.00049, paper=Printed("0.347±0.001", "Table I"), num_images=9),
                Entry(state=MISSING, num_missing=1, paper=Printed("1.490±0.005", "Table I")),
                Entry(state=FAILED, num_images=3, num_failed=3),
            ),
            group="first",
            paper_label="paper, VI-Depth",
        ),
        Row(label="B′_x", entries=(Entry(value=0.1, best=True), Entry(state="–"), Entry(value=2.0)), group="second"),
    ),
    notes=("1 planned cell is missing.",),
    differences=("NYUv2 6 images (654)", AWKWARD),
)
