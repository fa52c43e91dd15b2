"""A folder of images by one command, against one command for each image.

    python -m mrac.lab.studies.folder_rate --data ../shared/data/train

100 training photographs at 480 × 640 with 50 readings each. Both sides start from an empty output folder and write the
same results; that they are the same is checked. Wall time of everything, starting Python included.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac.conventions import FloatArray
from mrac.lab.studies.batch_jobs.frames import write_frames
from mrac.lab.studies.protocol import results_folder, write_results

_SIZE, _READINGS = (640, 480), 50


def calibrate(images: Path, anchors: Path, out: Path, method: str) -> float:
    """Seconds of one command `mrac calibrate`."""
    command = [sys.executable, "-m", "mrac", "calibrate", images, "--anchors", anchors, "--method", method]
    start = time.perf_counter()
    subprocess.run([*map(str, command), "--out", str(out)], check=True, capture_output=True)
    return time.perf_counter() - start


def depth_m(run: Path) -> FloatArray:
    """The depth map that a run wrote."""
    with np.load(run / "depth.npz", allow_pickle=False) as stored:
        values: FloatArray = stored["depth_m"]
    return values


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="training pack: ../shared/data/train")
    parser.add_argument("--methods", nargs="+", default=["default", "fast"], metavar="METHOD")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--out", type=Path, default=results_folder("real-time"))
    given = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    table, results = Table("", "one command", "one for each", "ratio"), {}
    for method in given.methods:
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_frames(given.data, folder / "frames", given.frames, _SIZE, _READINGS)
            images = sorted((folder / "frames").glob("*.jpg"))
            calibrate(images[0], images[0].with_suffix(".csv"), folder / "warm", method)
            singly = sum(
                calibrate(image, image.with_suffix(".csv"), folder / "singly" / image.stem, method)
                for image in track(images, f"{method}, one command for each")
            )
            together = calibrate(folder / "frames", folder / "frames", folder / "together", method)
            same = all(
                np.array_equal(depth_m(folder / "singly" / image.stem), depth_m(folder / "together" / image.stem))
                for image in images
            )
        ratio = singly / together
        results[method] = {
            "one_s": round(together, 2),
            "each_s": round(singly, 2),
            "ratio": round(ratio, 2),
            "same": same,
        }
        table.add_row(method, f"{together:.1f} s", f"{singly:.1f} s", f"{ratio:.2f}")
    Console().print(table)
    given.out.mkdir(parents=True, exist_ok=True)
    write_results(given.out / "folder_rate.json", frames=given.frames, methods=results, load_average=round(load, 2))


if __name__ == "__main__":
    main()
