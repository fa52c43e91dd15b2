"""Reads MATLAB files up to version 7, which the split files of two data sets are."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mrac.errors import ContractError, first_line


def read_mat(path: Path, name: str) -> NDArray[Any]:
    """The array called `name`; a cell array comes as objects.

    Raises:
        ContractError: the file cannot be read or has no such array.
    """
    from scipy.io import loadmat  # noqa: PLC0415  (half a second)

    try:
        content = loadmat(path, variable_names=[name])
    except Exception as error:  # scipy raises whatever a damaged byte makes it meet
        raise ContractError(f"{path}: not a readable MATLAB file up to version 7 ({first_line(error)})") from None
    if name not in content:
        raise ContractError(f"{path}: no array {name!r} inside")
    array: NDArray[Any] = content[name]
    return array
