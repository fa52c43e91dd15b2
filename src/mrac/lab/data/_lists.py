"""Reads the lists of frames that data sets come with."""

from pathlib import Path

from mrac.errors import ContractError


def read_lines(path: Path) -> list[str]:
    """The lines of a text file.

    Raises:
        ContractError: it is missing, or no text.
    """
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"{path}: a list of frames, one per line, is needed ({error})") from None
