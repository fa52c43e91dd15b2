"""What a check found: a usual mistake, by name, with what to do about it."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One likely mistake in the readings. It never changes the answer.

    Attributes:
        name: one word, as in `mrac.checks.CHECKS`.
        message: what was seen, with the numbers that say so.
        advice: what to change.
    """

    name: str
    message: str
    advice: str
