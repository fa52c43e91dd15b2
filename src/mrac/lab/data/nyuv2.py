"""NYU Depth v2, labelled: 654 official (Eigen) test images, raw or filled truth, Eigen's crop, 10 m."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.lab.data._decode import map_readings
from mrac.lab.data._matlab import read_mat
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers

_DATA, _SPLITS = "nyu_depth_v2_labeled.mat", "splits.mat"
_FIELDS = {"raw": "rawDepths", "filled": "depths"}


@dataclass(frozen=True)
class Nyuv2(Dataset):
    """Truth is what the Kinect measured (`rawDepths`, a quarter of it missing) or the in-filled `depths` of the paper.

    With filled truth the measured pixels still are those of the sensor, and `raw` is a source of readings.

    Attributes:
        gt: `raw` or `filled`.
        split: `test` (654) or `train` (795).
        max_depth_m: scored up to here; the paper's protocol has 80.
    """

    about = About(
        source="https://cs.nyu.edu/~fergus/datasets/nyu_depth_v2.html (labelled dataset, 2.8 GB) and "
        "http://horatio.cs.nyu.edu/mit/silberman/indoor_seg_sup/splits.mat",
        layout=f"{_DATA}, {_SPLITS}",
        markers=(_DATA,),
    )

    gt: str = "raw"
    split: str = "test"
    max_depth_m: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("gt", tuple(_FIELDS))
        self.require_choice("split", ("test", "train"))
        check_numbers(self, 1e-3, 1e4)

    @property
    def name(self) -> str:
        """`nyuv2`, and what differs from the default."""
        return "_".join(["nyuv2", *(["filled"] if self.gt == "filled" else []), *(["train"] * (self.split == "train"))])

    @property
    def expected(self) -> int:
        """As the dataset says."""
        return {"test": 654, "train": 795}[self.split]

    @property
    def rules(self) -> Rules:
        """Eigen's crop; the sensor ends at 10 m."""
        return Rules(crop="nyu", max_depth_m=self.max_depth_m, max_range_m=10.0)

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """Raw and filled truth of the test split."""
        return [cls(folder, gt) for gt in _FIELDS]

    def find(self) -> Iterable[Entry]:
        """See `Dataset`; the id is the 1-based index in the file, as everybody's lists have it."""
        for name in (_DATA, _SPLITS):
            if not (self.folder / name).is_file():
                raise self.missing(name)
        key = f"{self.split}Ndxs"
        numbers = np.sort(read_mat(self.folder / _SPLITS, key).reshape(-1).astype(int))
        with self._open() as file:
            num_frames = len(file["depths"])
            if numbers.size and not 1 <= numbers[0] <= numbers[-1] <= num_frames:
                raise ContractError(
                    f"datasets/nyuv2: {_SPLITS} names frames {numbers[0]} to {numbers[-1]}, {_DATA} has {num_frames}; "
                    "the two of one release are needed"
                )
            scenes = [_text(file, "scenes", number - 1) for number in numbers]
        for number, scene in zip(numbers, scenes, strict=True):
            yield Entry(f"{number:04d}", scene, {"labelled": self.folder / _DATA})

    def read_image(self, entry: Entry) -> ImageArray:
        """See `Dataset`."""
        return np.ascontiguousarray(self._page(entry, "images").transpose(2, 1, 0))

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return np.asarray(self._page(entry, _FIELDS[self.gt]).T)

    def read_measured(self, entry: Entry) -> BoolArray | None:
        """Where the Kinect had a reading."""
        return None if self.gt == "raw" else np.asarray(self._page(entry, "rawDepths").T > 0)

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`raw`, beside filled truth."""
        return ("raw",) if self.gt == "filled" else ()

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`."""
        return map_readings(self._page(entry, "rawDepths").T, shape)

    def _page(self, entry: Entry, field: str) -> Any:
        """One frame of an array, axes reversed as MATLAB stores them: (3, W, H) or (W, H)."""
        with self._open() as file:
            try:
                return file[field][int(entry.id) - 1]
            except (KeyError, OSError) as error:
                raise ContractError(
                    f"datasets/nyuv2: {self.folder / _DATA}: {field} of frame {entry.id} cannot be read "
                    f"({first_line(error)}); fetch the file again"
                ) from None

    def _open(self) -> Any:
        # Opened for each read: a handle can be shared neither by processes nor by threads.
        try:
            import h5py  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtra("datasets/nyuv2", "lab") from None
        try:
            return h5py.File(self.folder / _DATA, "r")
        except OSError as error:
            raise ContractError(
                f"datasets/nyuv2: {self.folder / _DATA} is not a readable HDF5 file ({first_line(error)})"
            ) from None


def _text(file: Any, field: str, index: int) -> str:
    """One string of a MATLAB cell array: a reference to an array of character codes."""
    return "".join(chr(code) for code in np.asarray(file[file[field][0, index]]).reshape(-1))


IMPLEMENTATION = Nyuv2
