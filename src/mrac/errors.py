"""Exceptions of this package: invalid arguments or files, and missing optional dependencies.

Every message says where, what arrived, what is needed and what to change. A difficult scene (too few anchors, constant
relative depth) never raises: the result has a `status` and the best safe depth.
"""


def first_line(error: Exception) -> str:
    """The first line of another library's error message, which may have pages."""
    return str(error).strip().partition("\n")[0]


def shown(value: object) -> str:
    """A value as an error message shows it: short, whatever it is."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


class MracError(Exception):
    """Base class of all errors of this package; the command line shows them in one line."""


class ContractError(MracError, ValueError):
    """The caller's input breaks a documented contract."""


class MissingExtra(MracError, ImportError):  # noqa: N818  (named by the design; it says what to install)
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f'{feature}: an optional dependency is missing. Install it with: pip install "mrac-depth[{extra}]", '
            f'in a source checkout pip install ".[{extra}]"'
        )
