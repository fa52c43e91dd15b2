"""KITTI, Eigen's test frames: 652 with annotated depth; Garg's or Eigen's crop, benchmark crop on request, 80 m."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.io.image import read_image
from mrac.lab.data._crops import kb_window
from mrac.lab.data._decode import map_readings, read_depth_png
from mrac.lab.data._lists import read_lines
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers

_LISTS = ("eigen_test_files_with_gt.txt", "test_files.txt")
_IMAGE = re.compile(r"(?P<drive>[^/]+)/(?P<camera>image_0[23])/data/(?P<frame>\d{10})\.(png|jpg)$")
_SIDES = {"l": "image_02", "r": "image_03", "2": "image_02", "3": "image_03"}


@dataclass(frozen=True)
class Kitti(Dataset):
    """Truth is the annotated depth of Uhrig et al. (11 scans, checked by stereo), not the old raw projection.

    The list of frames is one of the two that are in use, as published: "image depth focal" per line, depth being None
    where there is none, or "date/drive frame l". Frames without annotated depth, 45 of 697, are left out.

    Attributes:
        crop: `garg`, `eigen` or `none`; of the image as it is given out.
        kb: gives out the benchmark crop, 352 × 1216, in place of the whole frame.
        max_depth_m: scored up to here.
        frames: the list's path, within the folder or not; empty looks for one of the usual names.
    """

    about = About(
        source="https://www.cvlibs.net/datasets/kitti (raw data, synced; annotated depth maps; optionally raw LiDAR "
        f"maps) and the list {_LISTS[0]} (BTS) or {_LISTS[1]} (Monodepth2, eigen)",
        layout="raw/<date>/<drive>/image_02/data/<frame>.png, data_depth_annotated/{train,val}/<drive>/proj_depth/"
        f"groundtruth/image_02/<frame>.png, data_depth_velodyne/… likewise, {_LISTS[0]}",
        markers=(_LISTS[0], "raw/2011_*_*/", "2011_*_*/", "data_depth_annotated/"),
    )

    crop: str = "garg"
    kb: bool = False
    max_depth_m: float = 80.0
    frames: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("crop", ("garg", "eigen", "none"))
        check_numbers(self, 1e-3, 1e4)

    @property
    def expected(self) -> int | None:
        """Of Eigen's list; of a list of one's own nothing is known."""
        return None if self.frames else 652

    @property
    def rules(self) -> Rules:
        """The chosen crop; the sensor ends at 80 m."""
        return Rules(crop=self.crop, max_depth_m=self.max_depth_m, max_range_m=80.0)

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        for drive_path, camera, frame, has_depth in self._listed():
            drive = drive_path.rpartition("/")[2]
            depth = self._depth_folder("annotated", "groundtruth", drive) / camera / f"{frame}.png"
            # A list that does not say which frames have depth: those that have a file.
            if has_depth is None and not depth.is_file():
                continue
            files = {"image": self._image(drive_path, camera, frame), "truth": depth}
            yield Entry(f"{drive}_{frame}_{camera}", drive, files)

    def read_image(self, entry: Entry) -> ImageArray:
        """See `Dataset`."""
        image = read_image(entry.files["image"])
        return image[kb_window((image.shape[0], image.shape[1]))] if self.kb else image

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return self._cropped(read_depth_png(entry.files["truth"], 256.0))

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`velodyne_raw`, the projected scan, where it was fetched."""
        return ("velodyne_raw",) if self._scan(entry).is_file() else ()

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`."""
        return map_readings(self._cropped(read_depth_png(self._scan(entry), 256.0)), shape)

    def _cropped(self, z_m: FloatArray) -> FloatArray:
        return z_m[kb_window((z_m.shape[0], z_m.shape[1]))] if self.kb else z_m

    def _scan(self, entry: Entry) -> Path:
        truth = entry.files["truth"]
        return self._depth_folder("velodyne", "velodyne_raw", entry.scene) / truth.parent.name / truth.name

    def _listed(self) -> Iterator[tuple[str, str, str, bool | None]]:
        """Date/drive, camera and frame of every line that may have depth, and whether the list says that it has."""
        path = self._list_path()
        for number, line in enumerate(read_lines(path), start=1):
            words = line.split()
            if not words:
                continue
            image = _IMAGE.search(words[0])
            if image and len(words) >= 2:
                if words[1] != "None":
                    yield words[0][: image.end("drive")], image["camera"], image["frame"], True
            elif len(words) == 3 and words[1].isdigit() and words[2] in _SIDES:
                yield words[0], _SIDES[words[2]], f"{int(words[1]):010d}", None
            else:
                raise ContractError(
                    f"datasets/kitti: {path}: line {number} is {line!r}; `image depth focal` or `date/drive frame l` "
                    "is needed"
                )

    def _list_path(self) -> Path:
        names = (str(user_path(self.frames)),) if self.frames else _LISTS
        found = next((path for path in (self.folder / name for name in names) if path.is_file()), None)
        if found is None:
            raise self.missing(names[0])
        return found

    def _image(self, drive_path: str, camera: str, frame: str) -> Path:
        inside = Path(drive_path) / camera / "data"
        places = [self.folder / base / inside / f"{frame}.{end}" for base in ("raw", "") for end in ("png", "jpg")]
        return next((place for place in places if place.is_file()), places[0])

    def _depth_folder(self, archive: str, what: str, drive: str) -> Path:
        key = (what, drive)
        if key not in self._depth_folders:
            bases = [Path(f"data_depth_{archive}"), Path()]
            places = [
                self.folder / base / split / drive / "proj_depth" / what
                for base in bases
                for split in ("val", "train", "")
            ]
            self._depth_folders[key] = next((place for place in places if place.is_dir()), places[0])
        return self._depth_folders[key]

    @cached_property
    def _depth_folders(self) -> dict[tuple[str, str], Path]:
        return {}


IMPLEMENTATION = Kitti
