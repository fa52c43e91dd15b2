"""A judged sentence, as a report shows it; what judges is not the report's: `mrac.lab.studies.claims`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

KINDS: Final = {
    "Does not hold": ("does not hold", "no"),
    "Holds in part": ("in part",),
    "Not measured": ("not measured",),
    "Holds": ("holds", "yes"),
}
"""Headings, what failed first; an answered question stands with the claims."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Of one claim or question.

    Attributes:
        group: the heading it stands under.
        place: where in the paper, or which study.
        says: the claim.
        holds_when: its test in words.
        protocol: whose runs it needs.
        here: what was measured.
        verdict: `holds`, `in part (n of m)`, `does not hold`, `yes`, `no` or `not measured`.
    """

    group: str
    place: str
    says: str
    holds_when: str
    protocol: str
    here: str
    verdict: str

    @property
    def kind(self) -> str:
        """Without the count: one of the words in `KINDS`."""
        return self.verdict.partition(" (")[0]


def counted(verdicts: Iterable[Verdict]) -> str:
    """How often each was given, those that were: `holds 7, in part 5`."""
    kinds = [one.kind for one in verdicts]
    order = ("holds", "yes", "in part", "does not hold", "no", "not measured")
    return ", ".join(f"{kind} {kinds.count(kind)}" for kind in order if kind in kinds)
