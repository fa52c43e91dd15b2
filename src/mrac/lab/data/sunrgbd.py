"""SUN RGB-D: the official 5050 test images or every fifth of all 10335, four sensors, bit-rotated depth, 10 m."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.files import read_png16
from mrac.io.image import read_image
from mrac.lab.data._decode import map_readings
from mrac.lab.data._matlab import read_mat
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers

_SPLIT_FILE = "SUNRGBDtoolbox/traintestSUNRGBD/allsplit.mat"
_FOLDERS = {"raw": "depth", "filled": "depth_bfx"}
_COUNTS = {"official": 5050, "stride5": 2067}


@dataclass(frozen=True)
class SunRgbd(Dataset):
    """The sensors' own depth, or the in-filled `depth_bfx`. There is no independent truth.

    Attributes:
        split: `official` (the toolbox's alltest) or `stride5` (the paper's: every fifth scene by path, which mixes
            training and test images).
        gt: `raw` or `filled`.
        without_nyu: leaves out kv1/NYUdata, which is NYU Depth v2 itself.
        max_depth_m: scored up to here.
    """

    about = About(
        source="https://rgbd.cs.princeton.edu (SUNRGBD.zip, 6.4 GB, and SUNRGBDtoolbox.zip for the official split)",
        layout="SUNRGBD/{kv1,kv2,realsense,xtion}/<subset>/<scene>/{image,depth,depth_bfx}/<one file>, "
        f"{_SPLIT_FILE}",
        markers=("SUNRGBD/",),
    )

    split: str = "official"
    gt: str = "raw"
    without_nyu: bool = False
    max_depth_m: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("split", tuple(_COUNTS))
        self.require_choice("gt", tuple(_FOLDERS))
        check_numbers(self, 1e-3, 1e4)

    @property
    def name(self) -> str:
        """`sunrgbd`, and what differs from the default."""
        return "_".join(["sunrgbd", *(["stride5"] * (self.split == "stride5")), *(["filled"] * (self.gt == "filled"))])

    @property
    def expected(self) -> int | None:
        """As counted; without NYU nobody has."""
        return None if self.without_nyu else _COUNTS[self.split]

    @property
    def rules(self) -> Rules:
        """No crop: NYU's would mean nothing to three of the four sensors."""
        return Rules(max_depth_m=self.max_depth_m, max_range_m=10.0)

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """Both splits; the official one only with the toolbox."""
        official = [cls(folder)] if (folder / _SPLIT_FILE).is_file() else []
        return [*official, cls(folder, "stride5")]

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        root = self.folder / "SUNRGBD"
        if not root.is_dir():
            raise self.missing("SUNRGBD")
        scenes = self._official() if self.split == "official" else sorted(_scenes(root))[::5]
        for scene in scenes:
            if self.without_nyu and scene.startswith("kv1/NYUdata/"):
                continue
            # The one file inside has a name of its own in every folder: it is looked for when it is read.
            files = {"image": root / scene / "image", "truth": root / scene / _FOLDERS[self.gt]}
            yield Entry(scene, scene.rpartition("/")[0], files)

    def _official(self) -> Iterator[str]:
        path = self.folder / _SPLIT_FILE
        if not path.is_file():
            raise self.missing(_SPLIT_FILE)
        for cell in read_mat(path, "alltest").reshape(-1):
            parts = PurePosixPath(str(np.asarray(cell).reshape(-1)[0])).parts
            if "SUNRGBD" not in parts:
                raise ContractError(f"datasets/sunrgbd: {path} names {'/'.join(parts)!r}; …/SUNRGBD/… is needed")
            yield "/".join(parts[parts.index("SUNRGBD") + 1 :])

    def read_image(self, entry: Entry) -> ImageArray:
        """See `Dataset`."""
        return read_image(_only_file(entry.files["image"]))

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return _read_rotated(_only_file(entry.files["truth"]))

    def read_measured(self, entry: Entry) -> BoolArray | None:
        """Where the sensor had a reading."""
        return None if self.gt == "raw" else np.asarray(self._raw(entry) > 0)

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`raw`, beside filled truth."""
        return ("raw",) if self.gt == "filled" else ()

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`."""
        return map_readings(self._raw(entry), shape)

    def _raw(self, entry: Entry) -> FloatArray:
        return _read_rotated(_only_file(entry.files["truth"].with_name("depth")))


def _scenes(root: Path) -> Iterator[str]:
    """Every folder that holds both an image and a depth folder."""
    for folder, inside, _ in os.walk(root):
        if {"image", "depth"} <= set(inside):
            yield Path(folder).relative_to(root).as_posix()
            inside.clear()  # nothing below a scene is one


def _only_file(folder: Path) -> Path:
    files = (
        sorted(path for path in folder.iterdir() if path.suffix.lower() in (".jpg", ".png")) if folder.is_dir() else []
    )
    if len(files) != 1:
        raise ContractError(f"datasets/sunrgbd: {folder} holds {len(files)} pictures; one is needed")
    return files[0]


def _read_rotated(path: Path) -> FloatArray:
    """(H, W) metres: the toolbox stores millimetres with their 16 bits turned left by three."""
    stored = read_png16(path)[0].astype(np.uint16)
    return ((stored >> 3) | (stored << 13)).astype(np.float32) / np.float32(1000.0)


IMPLEMENTATION = SunRgbd
