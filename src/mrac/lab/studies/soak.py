"""Stream, service and recording over many frames: memory, file handles and threads over time, at full speed.

    python -m mrac.lab.studies.soak --frames 18000 --requests 6000 --bag-frames 3000

18,000 frames are ten minutes of a camera at 30 Hz. Frames are crops of the demo's photograph, 160 × 120, with 50
readings of which a fifth are wrong; the method is `default` without a network (`--foundation` names one), whose own
memory would only hide what the rest of the package keeps. Each subject is a process of its own, watched from outside:

- *stream*: `calibrator.stream` over crops, two threads.
- *service*: `mrac serve`, four connections at a time.
- *recording*: `mrac bag` over an MCAP.

Reported for each: resident memory, open files and threads, their largest value in each third of the frames, and the
slope of memory over frames within each third (least squares, MiB for a thousand frames). The first third has the
warming up; a leak would show in all.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import psutil
from rich.console import Console

from mrac import Anchors, Calibrator
from mrac.conventions import ImageArray
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.lab.studies.recordings import HEIGHT, WIDTH, crops, make_recording, start
from mrac.lab.studies.service import frames, sent, serving

NUM_ANCHORS: Final = 50
_CONNECTIONS: Final = 4
_DIFFERENT: Final = 60  # crops, after which the first comes again with other readings


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=18_000, help="of the stream; 0 leaves it out, so below")
    parser.add_argument("--requests", type=int, default=6_000, help="to the service")
    parser.add_argument("--bag-frames", type=int, default=3_000, help="of the recording")
    parser.add_argument("--foundation", default="none")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=results_folder("soak"))
    given = parser.parse_args(arguments)
    if given.child:
        stream(given.frames, given.foundation)
        return
    subjects = {
        "stream": (watch_stream, given.frames),
        "service": (watch_service, given.requests),
        "recording": (watch_recording, given.bag_frames),
    }
    for subject, (watch, num) in subjects.items():
        if num:
            found = watch(num, given.foundation)
            Console().print({subject: found})
            write_results(given.out / f"{subject}.json", size=[WIDTH, HEIGHT], anchors=NUM_ANCHORS, **{subject: found})


class Samples:
    """Memory, files and threads of a process, every so many frames."""

    def __init__(self, process: psutil.Process, num: int) -> None:
        self._process, self._every = process, max(1, num // 300)
        self.rows: list[tuple[int, float, int, int]] = []

    def take(self, done: int) -> None:
        if done % self._every == 0:
            with self._process.oneshot():
                mib = self._process.memory_info().rss / 2**20
                self.rows.append((done, mib, self._process.num_fds(), self._process.num_threads()))

    def summary(self, num: int) -> dict[str, Any]:
        """By thirds of the frames."""
        thirds = np.array_split(np.array(self.rows, np.float64), 3)
        return {
            "frames": num,
            "samples": len(self.rows),
            "rss_mib_max_by_third": [round(float(part[:, 1].max()), 1) for part in thirds],
            "rss_mib_per_1000_frames_by_third": [slope(part) for part in thirds],
            "files_max_by_third": [int(part[:, 2].max()) for part in thirds],
            "threads_max_by_third": [int(part[:, 3].max()) for part in thirds],
        }


def slope(part: Any) -> float:
    """Of memory over frames, MiB for a thousand, of two samples or more."""
    return round(float(1000.0 * np.polyfit(part[:, 0], part[:, 1], 1)[0]), 3)


def camera() -> Iterator[tuple[ImageArray, Anchors]]:
    """Frames without end; no two have the same readings."""
    pictures, rng = list(crops(_DIFFERENT)), np.random.default_rng(0)
    while True:
        for image, mm in pictures:
            v, u = np.nonzero(mm)
            chosen = rng.choice(len(u), NUM_ANCHORS, replace=False)
            z_m = mm[v[chosen], u[chosen]] / 1000.0
            z_m[: NUM_ANCHORS // 5] *= 0.4
            yield image, Anchors(np.stack([u[chosen], v[chosen]], 1), z_m)


def stream(num: int, foundation: str) -> None:
    """In a process of its own: tells the number of each frame as it comes out."""
    calibrator = Calibrator(foundation=foundation)
    for done, _ in enumerate(calibrator.stream(islice(camera(), num), workers=2), 1):
        print(done, flush=True)


def watch_stream(num: int, foundation: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "mrac.lab.studies.soak", "--child", "--frames", str(num)]
    with subprocess.Popen([*command, "--foundation", foundation], stdout=subprocess.PIPE, text=True) as process:
        return _told(process, num)


def watch_recording(num: int, foundation: str) -> dict[str, Any]:
    options = ["--foundation", foundation, "--max-anchors", str(NUM_ANCHORS)]
    with tempfile.TemporaryDirectory() as name:
        make_recording(Path(name) / "in.mcap", num)
        with start(Path(name) / "in.mcap", Path(name) / "out.mcap", options) as process:
            return _told(process, num)


def _told(process: "subprocess.Popen[str]", num: int) -> dict[str, Any]:
    """The samples of a process that prints a line for each frame."""
    assert process.stdout is not None
    samples = Samples(psutil.Process(process.pid), num)
    done = 0
    for done, _ in enumerate(process.stdout, 1):
        if done < num:  # with the last it ends, and has no numbers any more
            samples.take(done)
    if process.wait() != 0 or done != num:
        raise RuntimeError(f"soak: {done} of {num} frames, exit code {process.returncode}")
    return samples.summary(num)


def watch_service(num: int, foundation: str) -> dict[str, Any]:
    made = frames(6, sizes=((WIDTH, HEIGHT),), methods=("default",))
    with serving("--foundation", foundation) as (url, process):
        samples = Samples(process, num)
        limits = httpx.Limits(max_connections=_CONNECTIONS)
        with httpx.Client(base_url=url, timeout=600.0, limits=limits) as client:

            def one(number: int) -> int:
                return sent(client, made[number % len(made)]).status_code

            with ThreadPoolExecutor(_CONNECTIONS) as pool:
                for done, status in enumerate(pool.map(one, range(num)), 1):
                    if status != 200:
                        raise RuntimeError(f"soak: request {done} was answered with {status}")
                    samples.take(done)
        return samples.summary(num)


if __name__ == "__main__":
    main()
