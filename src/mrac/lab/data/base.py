"""The contract of a data set: frames in a fixed order, decoded when asked for, in the house conventions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.io.image import read_image
from mrac.lab.data._crops import crop_mask
from mrac.lab.data._decode import invalid_as_nan

_PAPER_MAX_DEPTH_M: Final = 80.0


@dataclass(frozen=True)
class About:
    """What a person needs in order to have a data set.

    Attributes:
        source: where to get it.
        layout: what the folder holds then, in one line.
        markers: glob patterns, relative to the folder; one that matches says that it holds this data set.
    """

    source: str
    layout: str
    markers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which pixels of a set are scored, and what its sensor reports when nothing comes back.

    Attributes:
        crop: `none`, `nyu`, `garg` or `eigen`; see `crop_window`.
        min_depth_m: truth at or under this is not scored; predictions are clipped to it.
        max_depth_m: truth at or over this is not scored; predictions are clipped to it.
        max_range_m: what the dropout family writes, and beyond which VI-Depth discards readings.
        anchors_in_crop: whether anchors are drawn inside the crop alone, or wherever there is a truth to read.
    """

    crop: str = "none"
    min_depth_m: float = 1e-3
    max_depth_m: float
    max_range_m: float
    anchors_in_crop: bool = True

    def as_in_paper(self) -> "Rules":
        """The paper's: scored up to 80 m everywhere; on NYUv2, for which it states no crop, anchors from all of it."""
        return replace(self, max_depth_m=_PAPER_MAX_DEPTH_M, anchors_in_crop=self.crop != "nyu")

    def scored(self, truth_m: FloatArray) -> BoolArray:
        """(H, W) the pixels of a truth map that count; NaN and <= 0 do not."""
        inside = crop_mask(self.crop, (truth_m.shape[0], truth_m.shape[1]))
        return np.asarray(inside & (truth_m > self.min_depth_m) & (truth_m < self.max_depth_m))


@dataclass(frozen=True)
class Entry:
    """One frame that has not been read.

    Attributes:
        id: unique within the set.
        scene: what frames of one place share.
        files: the files it needs, by role.
    """

    id: str
    scene: str
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sample:
    """One frame. What is decoded stays with this object, and goes with it.

    Attributes:
        dataset: the set it belongs to.
        entry: its id, scene and files.
    """

    dataset: "Dataset"
    entry: Entry

    @property
    def id(self) -> str:
        """Unique within the set."""
        return self.entry.id

    @property
    def scene(self) -> str:
        """What frames of one place share."""
        return self.entry.scene

    @property
    def rules(self) -> Rules:
        """Which pixels are scored."""
        return self.dataset.rules.as_in_paper() if self.dataset.paper_rules else self.dataset.rules

    @cached_property
    def image(self) -> ImageArray:
        """(H, W, 3) uint8 RGB."""
        self.dataset.require_files(self.entry)
        return self.dataset.read_image(self.entry)

    @cached_property
    def truth_m(self) -> FloatArray:
        """(H, W) float32 metres, NaN where there is none.

        Raises:
            ContractError: a file is missing, broken, or of another size than the image.
        """
        self.dataset.require_files(self.entry)
        truth_m = invalid_as_nan(self.dataset.read_truth(self.entry))
        if truth_m.shape != self.image.shape[:2]:
            raise ContractError(
                f"datasets/{self.dataset.kind}: the image of {self.id} is {self.image.shape[1]} × "
                f"{self.image.shape[0]} pixels, its depth {truth_m.shape[::-1]}; truth for its pixels is needed"
            )
        return truth_m

    @cached_property
    def scored(self) -> BoolArray:
        """(H, W) the pixels that count: with truth, inside the crop, between the two depths."""
        return self.rules.scored(self.truth_m)

    @cached_property
    def readable(self) -> BoolArray:
        """(H, W) the pixels at which an anchor may lie: scored and measured, outside the crop too by some rules."""
        inside = self.scored if self.rules.anchors_in_crop else replace(self.rules, crop="none").scored(self.truth_m)
        return inside & self.measured

    @cached_property
    def measured(self) -> BoolArray:
        """(H, W) where the truth was measured, not filled in: anchors drawn elsewhere would be invented data."""
        has_truth = np.isfinite(self.truth_m)
        measured = self.dataset.read_measured(self.entry)
        return has_truth if measured is None else has_truth & measured

    @property
    def next(self) -> "Sample":
        """The frame behind this one in the set; behind the last, the first."""
        entries = self.dataset.entries
        return Sample(self.dataset, entries[(entries.index(self.entry) + 1) % len(entries)])

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the real sensors that `readings` knows for this frame."""
        return self.dataset.sources(self.entry)

    def readings(self, source: str) -> Anchors:
        """What a real sensor said, its errors left in, at pixels of `image`.

        Raises:
            ContractError: there is no such source, or its file cannot be read.
        """
        if source not in self.sources:
            known = ", ".join(self.sources) or "it has none"
            raise ContractError(f"datasets/{self.dataset.kind}: {self.id} has no readings {source!r}; known: {known}")
        return self.dataset.read_readings(self.entry, source, (self.image.shape[0], self.image.shape[1]))


@dataclass(frozen=True)
class Dataset(ABC):
    """A data set is a frozen dataclass of its folder and protocol; it lists files on first use, and decodes none.

    Attributes:
        folder: laid out as `about` says; `~` is home.
        paper_rules: whether its frames are scored by `Rules.as_in_paper`.
    """

    folder: Path
    about: ClassVar[About]
    paper_rules: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", user_path(str(self.folder)))

    @property
    def kind(self) -> str:
        """The name under which it is registered."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def name(self) -> str:
        """What tables call this set."""
        return self.kind

    @property
    def seed_name(self) -> str:
        """What seeds call it: one for all parts and flavours, so that a frame has the same anchors in each."""
        return self.kind

    @property
    def expected(self) -> int | None:
        """How many frames the official set has, where that is known."""
        return None

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """Which pixels are scored."""

    @abstractmethod
    def find(self) -> Iterable[Entry]:
        """Lists the frames in the official order, without decoding any.

        Raises:
            ContractError: the folder is not laid out so.
        """

    @abstractmethod
    def read_truth(self, entry: Entry) -> FloatArray:
        """(H, W) metres; not finite or <= 0 where there is none."""

    def read_image(self, entry: Entry) -> ImageArray:
        """(H, W, 3) uint8 RGB."""
        return read_image(entry.files["image"])

    def read_measured(self, entry: Entry) -> BoolArray | None:
        """(H, W) where the truth was measured; None where all of it was."""
        return None

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """The names of real sensors."""
        return ()

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """The readings of one of `sources` in the pixels of an image (H, W)."""
        raise NotImplementedError

    @classmethod
    def is_in(cls, folder: Path) -> bool:
        """Whether a folder looks like this data set."""
        return any(next(folder.glob(marker), None) is not None for marker in cls.about.markers)

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """The sets that a folder holds: parts and flavours that are reported apart."""
        return [cls(folder)]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All frames, in order.

        Raises:
            ContractError: there are none, or two of one id.
        """
        entries = tuple(self.find())
        if not entries:
            raise self.missing("frames")
        seen: set[str] = set()
        for entry in entries:
            if entry.id in seen:
                raise ContractError(f"datasets/{self.kind}: {self.folder}: {entry.id!r} comes twice; ids are unique")
            seen.add(entry.id)
        return entries

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Sample:
        return Sample(self, self.entries[index])

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self, entry) for entry in self.entries)

    def require_files(self, entry: Entry) -> None:
        """Raises `ContractError` for the first file of a frame that is not there."""
        for path in entry.files.values():
            if not path.exists():
                inside = path.is_relative_to(self.folder)
                raise self.missing(str(path.relative_to(self.folder) if inside else path))

    def missing(self, what: str) -> ContractError:
        """The error that says what to get, where, and how to lay it out."""
        return ContractError(
            f"datasets/{self.kind}: no {what} in {self.folder}; get it from {self.about.source} and lay it out as "
            f"{self.about.layout}. `mrac data check {self.folder}` verifies it"
        )

    def require_choice(self, option: str, known: tuple[str, ...]) -> None:
        """Raises `ContractError` unless an option has one of the known values."""
        value = getattr(self, option)
        if value not in known:
            raise ContractError(f"datasets/{self.kind}: {option} = {value!r}; one of {', '.join(known)} is needed")
