"""A section of the page: what was asked, what holds, tables and figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.results import Results
from mrac.lab.bench.report.table import NOT_RUN, Entry, Table
from mrac.lab.studies.beyond.pairs import Estimate
from mrac.lab.studies.claim import NotRunError, Outcome

NOT_THERE: Final = "not run"


@dataclass(frozen=True)
class Check:
    """One thing that was asked.

    Attributes:
        asks: in words, with the figure that must be reached.
        outcome: what was measured; None where rows are missing.
        lacking: which, then.
    """

    asks: str
    outcome: Outcome | None
    lacking: str = ""

    @property
    def verdict(self) -> str:
        return NOT_THERE if self.outcome is None else self.outcome.verdict

    @property
    def line(self) -> str:
        return f"- **{self.verdict}**: {self.asks}. {self.lacking if self.outcome is None else self.outcome.here}\n"


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        title: of it.
        checks: what was asked.
        tables: below them.
        drawings: below these.
        notes: a paragraph each.
    """

    title: str
    checks: Sequence[Check]
    tables: Sequence[Table] = ()
    drawings: Sequence[Figure] = ()
    notes: Sequence[str] = ()


def check(asks: str, test: Callable[..., Outcome], results: Results, *more: Any) -> Check:
    """Asks the rows, `test(results, *more)`; what they lack is said."""
    try:
        return Check(asks, test(results, *more))
    except NotRunError as error:
        return Check(asks, None, f"Rows are missing: {error}.")


def shown(figure: Estimate | None, decimals: int = 3, times: float = 1.0) -> Entry:
    """An entry of a table with its interval."""
    if figure is None:
        return Entry(state=NOT_RUN)
    value, low, high = (times * v for v in (figure.value, figure.low, figure.high))
    return Entry(value=value, interval=(low, high), decimals=decimals)


def as_percent(figure: Estimate) -> str:
    """`3.1 % [2.0, 4.2]`."""
    value, low, high = (f"{100.0 * v:.1f}".replace("-", "−") for v in (figure.value, figure.low, figure.high))
    return f"{value} % [{low}, {high}]"
