"""Any folder with a `manifest.csv`: one row per frame, depth decoded as (value + offset) · scale."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.image import open_image, read_image


@dataclass(frozen=True)
class Frame:
    """One row of a manifest; files are read when asked for.

    Attributes:
        folder: where the manifest lies.
        row: its cells by column name.
    """

    folder: Path
    row: dict[str, str]

    @property
    def name(self) -> str:
        """`set/id`, unique within a manifest."""
        return f"{self.row['set']}/{self.row['id']}"

    def image(self) -> ImageArray:
        """(H, W, 3) uint8 RGB."""
        return read_image(self.folder / self.row["rgb"])

    def depth_m(self, column: str) -> FloatArray:
        """(H, W) float32 metres of the file named in `column` (`gt`, `sensor`, `depth`); <= 0 is invalid.

        Raises:
            ContractError: the row names no such file, it cannot be read, or the columns that decode it are missing.
        """
        if not self.row.get(column):
            raise ContractError(f"datasets/manifest: {self.folder}: {self.name} has no {column!r}")
        with open_image(self.folder / self.row[column]) as stored_image:
            stored = np.asarray(stored_image).astype(np.float32)
        offset, scale = self._number(f"{column}_offset"), self._number(f"{column}_scale")
        return np.asarray((stored + offset) * scale)

    def _number(self, column: str) -> np.float32:
        try:
            return np.float32(self.row[column])
        except (KeyError, TypeError, ValueError):
            raise ContractError(
                f"datasets/manifest: {self.folder}: {self.name} has {column} = {self.row.get(column)!r}; "
                "a number is needed"
            ) from None


def read_manifest(folder: Path, set_name: str | None = None) -> Iterator[Frame]:
    """The frames of a folder in the manifest's order, all or those of one set.

    Raises:
        ContractError: there is no manifest, or it lacks a column.
    """
    path = folder / "manifest.csv"
    if not path.is_file():
        raise ContractError(f"datasets/manifest: no {path}; a folder with a manifest.csv (set,id,rgb,...) is needed")
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if missing := {"set", "id", "rgb"} - row.keys():
                raise ContractError(f"datasets/manifest: {path} has no column {min(missing)!r}")
            if set_name in (None, row["set"]):
                yield Frame(folder, row)
