"""The paper's own numbers, transcribed once into `mrac/lab/bench/paper/*.csv` as they are printed.

Of the supplement's complete metric tables, its tables of closed-form fits and its grid at K = 150 the source at hand
has the captions only; a number that is not there cannot be shown beside ours, and the report says so.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from mrac.lab.bench.report.results import CellKey

FOLDER: Final = Path(__file__).parent.parent / "paper"

# The numbers of a cell; the other files have columns of their own. In this order where two of them state one cell:
# tables before text.
_CELLS: Final = ("headline", "clean", "limits", "budget", "placement", "kappa", "losses")


@dataclass(frozen=True)
class Printed:
    """A number of the paper.

    Attributes:
        text: as printed, `0.347` or `0.347±0.001`.
        where: the table or section.
    """

    text: str
    where: str

    @property
    def value(self) -> float:
        """Without the spread."""
        return float(self.text.partition("±")[0])


@dataclass(frozen=True)
class PrintedWins:
    """Strict wins of one method against another as the paper counts them.

    Attributes:
        method: the winner of the wins.
        against: the other.
        family: "" for all.
        set: the paper's name of it, "" for all.
        corrupted: only the cells with outliers.
        wins: how many.
        cells: out of.
        where: the table or section.
    """

    method: str
    against: str
    family: str
    set: str
    corrupted: bool
    wins: int
    cells: int
    where: str


def read_rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of one of the files."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


class Paper:
    """Looks numbers up by the paper's set names: nyuv2, kitti, diode, sunrgbd."""

    @cached_property
    def _cells(self) -> dict[tuple[str, CellKey, str], Printed]:
        """By file, cell and metric."""
        found: dict[tuple[str, CellKey, str], Printed] = {}
        for name in _CELLS:
            for row in read_rows(name):
                cell = CellKey(
                    set=row["set"],
                    method=row["method"],
                    family=row["family"],
                    fraction=float(row["fraction"]),
                    num_anchors=int(row["num_anchors"] or 50),
                    placement=row["placement"],
                )
                text = row["value"] + (f"±{row['spread']}" if row["spread"] else "")
                found.setdefault((name, cell, row["metric"]), Printed(text, row["where"]))
        return found

    def number(self, cell: CellKey, metric: str = "abs_rel", files: Iterable[str] = _CELLS) -> Printed | None:
        """What the paper prints for a cell, with its own set name and source `truth`; None where it prints nothing.

        Args:
            cell: which.
            metric: a name of `mrac.metrics`.
            files: to look in, the first one that has it; studies are looked up in their own, since the paper ran the
                same cell again for some, with other anchors.
        """
        return next((p for name in files if (p := self._cells.get((name, cell.stored, metric)))), None)

    @cached_property
    def wins(self) -> list[PrintedWins]:
        """All scorecards."""
        return [
            PrintedWins(
                method=row["method"],
                against=row["against"],
                family=row["family"],
                set=row["set"],
                corrupted=row["fractions"] == "corrupted",
                wins=int(row["wins"]),
                cells=int(row["cells"]),
                where=row["where"],
            )
            for row in read_rows("scorecard")
        ]

    def latency(self) -> dict[tuple[str, str, str], Printed]:
        """By set, component (foundation, head, gate, end_to_end) and metric (time_ms, fps)."""
        return {
            (row["set"], row["method"], row["metric"]): Printed(
                row["value"] + (f"±{row['spread']}" if row["spread"] else ""), row["where"]
            )
            for row in read_rows("latency")
        }

    def propagation(self) -> list[tuple[str, float, float, float]]:
        """Method, from and to in pixels, AbsRel: what the supplement's text says of its figure S1."""
        rows = read_rows("propagation")
        return [(r["method"], float(r["from_px"]), float(r["to_px"]), float(r["value"])) for r in rows]
