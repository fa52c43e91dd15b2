"""What this package raises when the caller, not the scene, is at fault.

Every message says where, what arrived, what is needed and what to change. A bad scene (too few anchors, a flat
relative field) never raises: it comes back as a `status` with the best safe answer.
"""


def first_line(error: Exception) -> str:
    """What a foreign library's error says, without the pages that some of them add."""
    return str(error).strip().partition("\n")[0]


class MracError(Exception):
    """Base of all errors of this package; the command line shows them in one line."""


class ContractError(MracError, ValueError):
    """The caller's input breaks a documented contract."""


class MissingExtra(MracError, ImportError):  # noqa: N818  (named by the design; it says what to install)
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature}: an optional dependency is missing. Install it with: pip install "mrac[{extra}]"')
