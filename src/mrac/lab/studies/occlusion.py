"""How many see-through points of KITTI-15's lidar are found before the gate, and how many right ones are kept.

    python -m mrac.lab.studies.occlusion --data ../shared/data/train ../shared/data/eval

A point is see-through if it is more than 10 % farther than the truth at its pixel, and right if it is within 10 %.
Recall is the share of see-through points that a filter finds, kept that of right points which it leaves alone, over all
points with truth; kept also for the worst frame. The constants of `mrac.anchors.occlusion` were chosen on train.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter

from mrac.anchors.occlusion import occluded
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.io.files import read_png16
from mrac.lab.data.manifest import read_manifest

SET: Final = "kitti15"
WRONG: Final = 0.1  # of depth
_SCALE: Final = 256.0  # of the lidar images, stored value per metre

Filter = Callable[[FloatArray, FloatArray], BoolArray]


class Scan(NamedTuple):
    """The points of one frame that lie in the image.

    Attributes:
        uv_px: (K, 2).
        z_m: (K,) as the lidar measured.
        truth_m: (K,) at those pixels, 0 where there is none.
    """

    uv_px: FloatArray
    z_m: FloatArray
    truth_m: FloatArray


class Score(NamedTuple):
    """Of one filter on one pack; shares in per cent."""

    recall: float
    kept: float
    lowest_kept: float
    flagged: float
    milliseconds: float


def coarse_z_buffer(uv_px: FloatArray, z_m: FloatArray) -> BoolArray:
    """Cells of 4 pixels; a point is occluded if 2 % and 0.15 m behind the nearest of its cell."""
    column, row = (uv_px // 4.0).astype(np.int64).T
    _, cell = np.unique(row * (1 << 32) + column, return_inverse=True)
    nearest = np.full(cell.max() + 1, np.inf)
    np.minimum.at(nearest, cell, z_m)
    return np.asarray(z_m > 1.02 * nearest[cell] + 0.15)


def square_window(uv_px: FloatArray, z_m: FloatArray) -> BoolArray:
    """KITTI's: a point is occluded if 1.5 m behind the nearest of the 7×7 pixels around it."""
    nearest, (u, v) = _raster(uv_px, z_m)
    return np.asarray(z_m > minimum_filter(nearest, 7, mode="constant", cval=np.inf)[v, u] + 1.5)


def wide_window(uv_px: FloatArray, z_m: FloatArray) -> BoolArray:
    """As the chosen filter, with a window that reaches as far down as up."""
    return occluded(uv_px, z_m, above=1.45, below=1.45)


def two_sided(uv_px: FloatArray, z_m: FloatArray) -> BoolArray:
    """A point is occluded if 7 % behind points on both sides: left and right, or above and below, to 11 pixels."""
    nearest, (u, v) = _raster(uv_px, z_m)
    padded = np.pad(nearest, 1, constant_values=np.inf)

    def least(size: tuple[int, int], down: int, right: int) -> FloatArray:
        """The least in a window that begins at the next pixel in that direction."""
        origin = (-down * (size[0] // 2), -right * (size[1] // 2))
        field = minimum_filter(padded, size, mode="constant", cval=np.inf, origin=origin)
        return np.asarray(field[v + 1 + down, u + 1 + right])

    across = np.maximum(least((7, 11), 0, -1), least((7, 11), 0, 1))
    along = np.maximum(least((11, 9), -1, 0), least((11, 9), 1, 0))
    return np.asarray(z_m > 1.07 * np.minimum(across, along))


def _raster(uv_px: FloatArray, z_m: FloatArray) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    u, v = uv_px.astype(np.intp).T
    nearest = np.full((int(v.max()) + 1, int(u.max()) + 1), np.inf)
    nearest[v, u] = z_m
    return nearest, (u, v)


FILTERS: Final[Mapping[str, Filter]] = {
    "coarse z-buffer, 4 px, 2 % + 0.15 m": coarse_z_buffer,
    "window 7×7 px, 1.5 m (KITTI)": square_window,
    "window as high up as down, 12 %": wide_window,
    "nearer points on two sides, 7 %": two_sided,
    "window reaching up, 12 % (used)": occluded,
}


def scans(pack: Path) -> list[Scan]:
    """The frames of a pack that have a lidar scan.

    Raises:
        ContractError: there are none.
    """
    found = []
    for frame in read_manifest(pack, SET):
        lidar, _ = read_png16(pack / SET / "lidar" / f"{frame.row['id']}.png")
        v, u = np.nonzero(lidar)
        truth = np.maximum(frame.depth_m(frame.truth_column)[v, u], 0.0)
        found.append(Scan(np.stack([u, v], axis=1).astype(np.float64), lidar[v, u] / _SCALE, truth))
    if not found:
        raise ContractError(f"studies/occlusion: {pack} has no frame of {SET}; a pack with its lidar is needed")
    return found


def score(chosen: Filter, frames: Sequence[Scan]) -> Score:
    """Recall and kept share of a filter."""
    counts = []
    seconds = 0.0
    chosen(frames[0].uv_px, frames[0].z_m)  # compiled before it is timed
    for scan in frames:
        start = time.perf_counter()
        flagged = chosen(scan.uv_px, scan.z_m)
        seconds += time.perf_counter() - start
        known = scan.truth_m > 0.0
        behind = known & (scan.z_m > (1.0 + WRONG) * scan.truth_m)
        right = known & (np.abs(scan.z_m - scan.truth_m) <= WRONG * scan.truth_m)
        pairs = ((flagged & behind, behind), (~flagged & right, right), (flagged, np.ones_like(flagged)))
        counts.append([[np.count_nonzero(some), np.count_nonzero(all_)] for some, all_ in pairs])
    each = np.array(counts, np.float64)
    recall, kept, flagged_share = 100.0 * each[:, :, 0].sum(axis=0) / each[:, :, 1].sum(axis=0)
    lowest = 100.0 * (each[:, 1, 0] / each[:, 1, 1]).min()
    return Score(float(recall), float(kept), float(lowest), float(flagged_share), 1e3 * seconds / len(frames))


def main(words: Sequence[str] | None = None) -> None:
    """Prints one table per pack."""
    parser = argparse.ArgumentParser(prog="python -m mrac.lab.studies.occlusion", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="packs with a manifest.csv: train, eval")
    for pack in parser.parse_args(words).data:
        frames = scans(pack)
        num = sum(scan.z_m.size for scan in frames) // len(frames)
        print(f"{pack.name}/{SET}: {len(frames)} frames, {num} points each\n")
        print("| filter | recall % | kept % | kept, worst frame % | flagged % | ms |\n|---|---|---|---|---|---|")
        for name, chosen in FILTERS.items():
            print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in score(chosen, frames)) + " |")
        print()


if __name__ == "__main__":
    main()
