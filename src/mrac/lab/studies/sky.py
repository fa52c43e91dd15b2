"""How much of the sky a foundation puts behind the scene: the share of sky pixels farther than 95 % of the rest.

    python -m mrac.lab.studies.sky --labelled ../shared/data/sky --data ../shared/data/eval

CamVid's drives have the sky labelled; the drive that training left out is 0006R0. On KITTI-15 it is found by colour
above the highest reading (`lab.train.sky.find_sky`), and the rest are the pixels with ground truth.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import registry
from mrac.conventions import BoolArray, FloatArray
from mrac.foundation.base import Foundation
from mrac.io.image import open_image
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.lab.train.sky import find_sky

_LEAST = 200  # pixels of sky, for an image to count


def share_behind(log_depth: FloatArray, sky: BoolArray, rest: BoolArray) -> float:
    """Of the sky's pixels, those farther than 95 % of the rest."""
    return float((log_depth[sky] > np.quantile(log_depth[rest], 0.95)).mean())


def labelled(foundation: Foundation, folder: Path) -> dict[str, list[float]]:
    shares: dict[str, list[float]] = defaultdict(list)
    for frame in track(list(read_manifest(folder, "camvid")), description="camvid"):
        with open_image(frame.file("label")) as stored:
            sky = np.asarray(stored) == int(frame.row["sky_id"])
        if sky.sum() >= _LEAST:
            relative = foundation(frame.image())
            assert relative is not None
            shares[frame.row["scene"]].append(share_behind(relative.values, sky, ~sky))
    return shares


def found(foundation: Foundation, folder: Path) -> list[float]:
    shares = []
    for frame in track(list(read_manifest(folder, "kitti15")), description="kitti15"):
        image, truth_m = frame.image(), frame.depth_m("gt")
        sky = find_sky(image, truth_m)
        if sky.sum() >= _LEAST:
            relative = foundation(image)
            assert relative is not None
            shares.append(share_behind(relative.values, sky, truth_m > 0))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, default=Path("../shared/data/sky"), help="folder with camvid")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/eval"), help="folder with kitti15")
    parser.add_argument("--foundations", nargs="+", default=["embedded", "embedded:mirror=0"], metavar="SPEC")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table = Table("foundation", "set", "images", "sky farther than 95 % of the scene")
    shares: dict[str, dict[str, dict[str, float]]] = {}
    for spec in arguments.foundations:
        foundation = registry.create("foundation", spec)
        sets = {f"camvid {scene}": each for scene, each in sorted(labelled(foundation, arguments.labelled).items())}
        sets["kitti15"] = found(foundation, arguments.data)
        shares[spec] = {name: {"share": round(float(np.mean(s)), 4), "images": len(s)} for name, s in sets.items()}
        for name, each in shares[spec].items():
            table.add_row(spec, name, str(each["images"]), f"{each['share']:.1%}")
    Console().print(table)
    write_results((arguments.out or results_folder("foundation")) / "sky.json", shares=shares)


if __name__ == "__main__":
    main()
