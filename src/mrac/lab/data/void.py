"""VOID: 800 indoor test frames with 150, 500 or 1500 real visual-inertial points, truth from 0.2 to 5 m."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.files import read_png16
from mrac.lab.data._decode import map_readings, read_depth_png
from mrac.lab.data._lists import read_lines
from mrac.lab.data.base import About, Dataset, Entry, Rules

_DENSITIES = (1500, 500, 150)


@dataclass(frozen=True)
class Void(Dataset):
    """`sparse_depth` are the tracks of a visual-inertial odometer, clustered and sometimes wrong.

    Attributes:
        density: about how many points a frame has: 150, 500 or 1500.
        split: `test` or `train`.
        min_depth_m: scored from here.
        max_depth_m: scored up to here; Marigold-DC scores all of it.
    """

    about = About(
        source="https://github.com/alexklwong/void-dataset (void_release)",
        layout="void_release/void_<density>/test_image.txt, void_release/void_<density>/data/<sequence>/"
        "{image,sparse_depth,validity_map,ground_truth}/<time>.png",
        markers=tuple(f"{base}void_{density}/" for base in ("void_release/", "") for density in _DENSITIES),
    )

    density: int = 1500
    split: str = "test"
    min_depth_m: float = 0.2
    max_depth_m: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.density not in _DENSITIES:
            raise ContractError(f"datasets/void: density = {self.density!r}; one of 150, 500, 1500 is needed")
        self.require_choice("split", ("test", "train"))

    @property
    def name(self) -> str:
        """With the density."""
        return f"void_{self.density}" + ("_train" if self.split == "train" else "")

    @property
    def expected(self) -> int | None:
        """Of the test split."""
        return 800 if self.split == "test" else None

    @property
    def rules(self) -> Rules:
        """No crop; the sensor ends at 10 m."""
        return Rules(min_depth_m=self.min_depth_m, max_depth_m=self.max_depth_m, max_range_m=10.0)

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """The densities that are there."""
        return [cls(folder, density) for density in _DENSITIES if cls(folder, density)._root.is_dir()] or [cls(folder)]

    @property
    def _root(self) -> Path:
        inside = self.folder / "void_release" / f"void_{self.density}"
        return inside if inside.is_dir() else self.folder / inside.name

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        path = self._root / f"{self.split}_image.txt"
        if not path.is_file():
            raise self.missing(f"void_release/void_{self.density}/{path.name}")
        for line in filter(str.strip, read_lines(path)):
            # Releases differ in what stands before data/: the end of the path is the same in all.
            sequence, _, file = ("", "", *PurePosixPath(line.strip()).parts)[-3:]
            folders = {"image": "image", "truth": "ground_truth", "sparse": "sparse_depth", "validity": "validity_map"}
            files = {role: self._root / "data" / sequence / kind / file for role, kind in folders.items()}
            yield Entry(f"{sequence}_{file.removesuffix('.png')}", sequence, files)

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return read_depth_png(entry.files["truth"], 256.0)

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`sparse_depth`."""
        return ("sparse_depth",)

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`."""
        z_m, (validity, _) = read_depth_png(entry.files["sparse"], 256.0), read_png16(entry.files["validity"])
        if validity.shape != z_m.shape:
            raise ContractError(
                f"datasets/void: the points of {entry.id} are of shape {z_m.shape}, their validity {validity.shape}; "
                "the same is needed"
            )
        return map_readings(np.where(validity > 0, z_m, np.float32(0.0)), shape)


IMPLEMENTATION = Void
