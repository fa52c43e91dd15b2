"""Any folder with a `manifest.csv`: one row per frame, depth decoded as (value + offset) · scale."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.arrays import read_arrays
from mrac.io.image import open_image, read_image
from mrac.io.input_file import inside, read_text
from mrac.lab.data._crops import CROPS
from mrac.lab.data._decode import map_readings
from mrac.lab.data.base import About, Dataset, Entry, Rules

_NAME: Final = "manifest.csv"
# The protocols of the sets that we know; any other is scored whole, to 80 m, as the paper does.
_OTHER: Final = Rules(max_depth_m=80.0, max_range_m=80.0)
_INDOOR: Final = Rules(max_depth_m=80.0, max_range_m=10.0)
RULES: Final = {
    "nyu": Rules(crop="nyu", max_depth_m=10.0, max_range_m=10.0),
    "sunrgbd": _INDOOR,
    "tum": _INDOOR,
    "cleargrasp": _INDOOR,
    "prior_da": _INDOOR,
    "hololens": _INDOOR,
    "mosd": _INDOOR,
    "redkitchen": _INDOOR,
}


def rules_of(set_name: str) -> Rules:
    """The protocol under which a set of a manifest is scored, unless a caller says otherwise."""
    return RULES.get(set_name, _OTHER)


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

    @property
    def truth_column(self) -> str:
        """Where its truth is: `gt` in evaluation packs, `depth` in training packs."""
        return "gt" if "gt" in self.row else "depth"

    def file(self, column: str) -> Path:
        """The file that a column names.

        Raises:
            ContractError: it lies outside the manifest's folder.
        """
        return inside(self.folder, self.row[column], f"datasets/manifest: {self.folder / _NAME}: {self.name}")

    def image(self) -> ImageArray:
        """(H, W, 3) uint8 RGB."""
        return read_image(self.file("rgb"))

    def depth_m(self, column: str) -> FloatArray:
        """(H, W) float32 metres of the file named in `column` (`gt`, `sensor`, `depth`); <= 0 is invalid.

        Raises:
            ContractError: the row names no such file, it cannot be read, or the columns that decode it are missing.
        """
        if not self.row.get(column):
            raise ContractError(f"datasets/manifest: {self.folder}: {self.name} has no {column!r}")
        with open_image(self.file(column)) as stored_image:
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
    path = folder / _NAME
    if not path.exists():
        raise ContractError(f"datasets/manifest: no {path}; a folder with a manifest.csv (set,id,rgb,...) is needed")
    rows = csv.DictReader(io.StringIO(read_text(path, "datasets/manifest"), newline=""))
    try:
        for number, row in enumerate(rows, start=2):
            if missing := {"set", "id", "rgb"} - row.keys():
                raise ContractError(f"datasets/manifest: {path} has no column {min(missing)!r}")
            if None in row or None in row.values():
                raise ContractError(f"datasets/manifest: {path}: row {number} has more or fewer cells than the header")
            if set_name in (None, row["set"]):
                yield Frame(folder, row)
    except csv.Error as error:
        raise ContractError(f"datasets/manifest: {path} is not a table ({error})") from None


def by_set(frames: Iterable[Frame]) -> dict[str, list[Frame]]:
    """The frames of each set, sets and frames in the order in which they come."""
    sets: dict[str, list[Frame]] = {}
    for frame in frames:
        sets.setdefault(frame.row["set"], []).append(frame)
    return sets


@dataclass(frozen=True)
class Manifest(Dataset):
    """One set of a manifest. Columns `sensor` and `aux` (an .npz with u, v, z), where filled, are real readings.

    Attributes:
        set_name: which; may be left out where there is only one.
        crop: `none`, `nyu`, `garg` or `eigen`; empty takes the set's own.
        max_depth_m: scored up to here; 0 takes the set's own.
        max_range_m: of the dropout family; 0 takes the set's own.
    """

    about = About(
        source="anywhere: it describes a folder of one's own",
        layout="manifest.csv with a row per frame: set, id, scene, rgb, gt, gt_scale, gt_offset and, optionally, "
        "sensor, sensor_scale, sensor_offset, aux; depth_m = (value + offset) · scale, <= 0 where there is none",
        markers=("manifest.csv",),
    )

    set_name: str = ""
    crop: str = ""
    max_depth_m: float = 0.0
    max_range_m: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("crop", ("", *CROPS))

    @property
    def name(self) -> str:
        """The set's."""
        return self.set_name or next(iter(self._frames.values())).row["set"]

    @property
    def seed_name(self) -> str:
        """The set's."""
        return self.name

    @property
    def rules(self) -> Rules:
        """The set's own, or what this object says otherwise."""
        given = {name: getattr(self, name) for name in ("crop", "max_depth_m", "max_range_m")}
        return replace(rules_of(self.name), **{name: value for name, value in given.items() if value})

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """One per name in the column `set`, in the order of the manifest."""
        return [cls(folder, name) for name in dict.fromkeys(frame.row["set"] for frame in read_manifest(folder))]

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        frames = list(read_manifest(self.folder, self.set_name or None))
        sets = list(dict.fromkeys(frame.row["set"] for frame in frames))
        if len(sets) != 1:
            known = ", ".join(sets or dict.fromkeys(frame.row["set"] for frame in read_manifest(self.folder)))
            raise ContractError(
                f"datasets/manifest: {self.folder}: set_name = {self.set_name!r}; one of {known or 'no set'} is needed"
            )
        by_id = {frame.row["id"]: frame for frame in frames}
        if len(by_id) < len(frames):
            raise ContractError(f"datasets/manifest: {self.folder}: two rows of {sets[0]} have one id; ids are unique")
        return by_id

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        for id_, frame in self._frames.items():
            columns = ("rgb", frame.truth_column, "sensor", "aux")
            files = {column: frame.file(column) for column in columns if frame.row.get(column)}
            yield Entry(id_, frame.row.get("scene") or "", files)

    def read_image(self, entry: Entry) -> ImageArray:
        """See `Dataset`."""
        return self._frames[entry.id].image()

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        frame = self._frames[entry.id]
        return frame.depth_m(frame.truth_column)

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`sensor` and `aux`, where the row names them."""
        return tuple(column for column in ("sensor", "aux") if column in entry.files)

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`; a sensor map of another size covers the same field of view."""
        if source == "sensor":
            return map_readings(self._frames[entry.id].depth_m("sensor"), shape)
        arrays = read_arrays(entry.files["aux"], ("u", "v", "z"))
        return Anchors(np.stack([arrays["u"], arrays["v"]], axis=1), arrays["z"])


IMPLEMENTATION = Manifest
