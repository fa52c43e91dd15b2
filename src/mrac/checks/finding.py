"""What was noticed about the readings: a usual mistake or an unstated fact, by name, with what to do about it."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One likely mistake in the readings, which changes no answer; or `zones`, which says how readings were used.

    Attributes:
        name: one word, as in `mrac.checks.CHECKS`, or `zones` (`mrac.zone_grid`).
        message: what was seen, with the numbers that say so.
        advice: what to change.
        is_mistake: False for `zones`.
    """

    name: str
    message: str
    advice: str
    is_mistake: bool = True

    @property
    def kind(self) -> str:
        """As it is shown: `warning`, or `note` for what is no mistake."""
        return "warning" if self.is_mistake else "note"
