"""TUM RGB-D sequences: images and Kinect depth paired by time, within 20 ms; the sensor is the truth, to 10 m."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lab.data._decode import read_depth_png
from mrac.lab.data._lists import read_lines
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers


@dataclass(frozen=True)
class Tum(Dataset):
    """One sequence, or every sequence in a folder; the sequence is the scene.

    Attributes:
        max_difference_s: between an image and its depth, in seconds.
        stride: every how many-th pair is taken; 30 is about one per second.
        max_depth_m: scored up to here.
    """

    about = About(
        source="https://cvg.cit.tum.de/data/datasets/rgbd-dataset/download",
        layout="<sequence>/rgb.txt, <sequence>/depth.txt and the pictures that they name (<sequence>/rgb/<time>.png, "
        "<sequence>/depth/<time>.png), or one sequence by itself",
        markers=("rgb.txt", "*/rgb.txt"),
    )

    max_difference_s: float = 0.02
    stride: int = 1
    max_depth_m: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, 0.0, 1.0, ("max_difference_s",))
        check_numbers(self, 1, 1e6, ("stride",))
        check_numbers(self, 1e-3, 1e4, ("max_depth_m",))

    @property
    def rules(self) -> Rules:
        """No crop; the sensor ends at 10 m."""
        return Rules(max_depth_m=self.max_depth_m, max_range_m=10.0)

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        lists = [self.folder / "rgb.txt"] if (self.folder / "rgb.txt").is_file() else self.folder.glob("*/rgb.txt")
        for images_path in sorted(lists):
            sequence = images_path.parent
            depths_path = sequence / "depth.txt"
            if not depths_path.is_file():
                raise self.missing(str(depths_path.relative_to(self.folder)))
            images, depths = _read_times(images_path), _read_times(depths_path)
            pairs = associate([t for t, _ in images], [t for t, _ in depths], self.max_difference_s)
            name = sequence.absolute().name.removeprefix("rgbd_dataset_")
            for i, j in pairs[:: self.stride]:
                image, depth = sequence / images[i][1], sequence / depths[j][1]
                yield Entry(f"{name}_{image.stem}", name, {"image": image, "truth": depth})

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return read_depth_png(entry.files["truth"], 5000.0)


def _read_times(path: Path) -> list[tuple[float, str]]:
    """Time stamp and file of every line that is not a comment."""
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        try:
            found.append((float(words[0]), words[1]))
        except (ValueError, IndexError):
            raise ContractError(
                f"datasets/tum: {path}: line {number} is {line!r}; a time stamp and a file are needed"
            ) from None
    return found


def associate(first_s: list[float], second_s: list[float], max_difference_s: float) -> list[tuple[int, int]]:
    """Pairs two series of times as the benchmark's own tool does: the closest pair first, each time used once.

    Returns:
        Indices into the two, in the order of the first one's times.
    """
    order = np.argsort(second_s, kind="stable")
    sorted_s = np.asarray(second_s, np.float64)[order]
    candidates = []
    for i, time_s in enumerate(first_s):
        low, high = np.searchsorted(sorted_s, [time_s - max_difference_s, time_s + max_difference_s])
        # One more on each side: rounding in the sums must not lose a pair that the strict test below would take.
        for k in range(max(low - 1, 0), min(high + 1, sorted_s.size)):
            difference_s = abs(time_s - sorted_s[k])
            if difference_s < max_difference_s:
                candidates.append((difference_s, time_s, sorted_s[k], i, int(order[k])))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for *_, i, j in sorted(candidates):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return sorted(pairs.items(), key=lambda pair: first_s[pair[0]])


IMPLEMENTATION = Tum
