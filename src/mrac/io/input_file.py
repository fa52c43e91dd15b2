"""Files that a user names: whether they can be read at all, and what a message says of one that cannot."""

import os
from pathlib import Path

from mrac.conventions import shown
from mrac.errors import ContractError


def as_path(path: object, call: str) -> Path:
    """The path that an argument is.

    Args:
        path: what arrived.
        call: the right call, for the message: `read_image("image.png")`.

    Raises:
        ContractError: it is neither text nor a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ContractError(f"{call}: a path is needed; {shown(path)} arrived")
    return Path(path)
