"""Point clouds in numpy files: (N, 3+) columns, or a structured array with fields x, y and z."""

from pathlib import Path

import numpy as np

from mrac.clouds.cloud import PointCloud, from_columns, from_fields
from mrac.errors import ContractError, first_line


def read(path: Path) -> PointCloud:
    """Reads the points; of exactly four columns the last is intensity.

    Raises:
        ContractError: not a numpy file, cut short, or of another shape.
    """
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            raise ContractError(f"clouds/npy: {path} is an .npz archive; one array (.npy) is needed")
    try:
        # Mapped, not loaded: a header that states more than the file holds is refused before memory is reserved.
        table = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # numpy evaluates a header as Python text, which fails in many ways
        raise ContractError(f"clouds/npy: {path} is no readable .npy file ({first_line(error)})") from None
    if table.dtype.names:
        return from_fields({name: np.asarray(table[name]) for name in table.dtype.names}, path)
    return from_columns(table, path)
