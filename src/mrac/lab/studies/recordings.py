"""`mrac bag` over a long recording: memory over time, and killed again and again, compared with a run left alone.

    python -m mrac.lab.studies.recordings --frames 1000 --kills 6 --out results/NAME

Makes an MCAP of an RGB-D camera (small crops of the demo's photograph that move over it, a fifth of the depth wrong),
runs the command once, then again while killing it with SIGKILL: at random numbers of finished frames, and once while
it joins them to the output. The two outputs must be equal to the byte.
"""

import argparse
import json
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from mrac.camera import Camera
from mrac.conventions import ImageArray
from mrac.demo import motorcycle
from mrac.io.files import sha256_of
from mrac.recordings.camera_info import info_message
from mrac.recordings.message_classes import RosbagsClasses
from mrac.recordings.opened import Recording
from mrac.recordings.run import JOURNAL
from mrac.recordings.solve import header_message

WIDTH, HEIGHT = 160, 120
EPOCH_NS, STEP_NS = 1_700_000_000_000_000_000, 33_000_000
OFTEN_S = 0.02  # how often a child is looked at


def crops(num: int) -> Iterator[tuple[ImageArray, NDArray[np.uint16]]]:
    """`num` pictures (HEIGHT, WIDTH, 3) of the demo's photograph, each with its depth in millimetres, 0 for none."""
    scene = motorcycle()
    truth_mm = np.nan_to_num(np.rint(1000.0 * scene.truth_m)).astype(np.uint16)
    for i in range(num):
        left, top = (7 * i) % (scene.image.shape[1] - WIDTH), (3 * i) % (scene.image.shape[0] - HEIGHT)
        window = np.s_[top : top + HEIGHT, left : left + WIDTH]
        yield scene.image[window], truth_mm[window].copy()


def make_recording(path: Path, num: int) -> None:
    """An MCAP with `num` images, as many depth images and CameraInfos."""
    from rosbags.rosbag2 import StoragePlugin, Writer  # noqa: PLC0415

    classes, rng = RosbagsClasses(), np.random.default_rng(0)
    camera = Camera(200.0, 200.0, (WIDTH - 1) / 2, (HEIGHT - 1) / 2, WIDTH, HEIGHT)
    folder = path.with_suffix("")
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kinds = {"image": "Image", "depth": "Image", "camera_info": "CameraInfo"}
        store = classes.typestore
        topics = {
            name: writer.add_connection(f"/cam/{name}", f"sensor_msgs/msg/{kind}", typestore=store)
            for name, kind in kinds.items()
        }
        for i, (image, mm) in enumerate(crops(num)):
            wrong = rng.random(mm.shape) < 0.2
            mm[wrong] = (0.4 * mm[wrong]).astype(np.uint16)
            stamp = EPOCH_NS + i * STEP_NS
            header = header_message(classes, stamp, "cam")
            messages = {
                "image": _image(classes, header, "rgb8", image),
                "depth": _image(classes, header, "16UC1", mm),
                "camera_info": info_message(classes, header, camera),
            }
            for name, message in messages.items():
                raw = store.serialize_cdr(message, f"sensor_msgs/msg/{kinds[name]}")
                writer.write(topics[name], stamp + 2_000_000, raw)
    (folder / f"{folder.name}.mcap").replace(path)
    shutil.rmtree(folder)


def _image(classes: RosbagsClasses, header: Any, encoding: str, values: Any) -> Any:
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(values.shape[0], -1)
    return classes.make(
        "sensor_msgs/msg/Image", header=header, height=HEIGHT, width=WIDTH, encoding=encoding, is_bigendian=0,
        step=rows.shape[1], data=rows.ravel(),
    )  # fmt: skip


def start(source: Path, out: Path, options: list[str], heard: bool = True) -> "subprocess.Popen[str]":
    """The command; nobody hears one that is to be killed, whose pipe would fill and hold it up."""
    command = [sys.executable, "-m", "mrac", "bag", str(source), "--out", str(out), "--json", *options]
    to = subprocess.PIPE if heard else subprocess.DEVNULL
    return subprocess.Popen(command, stdout=to, stderr=to, text=True)


def rss_mb(pid: int) -> float:
    """Resident memory of a process; 0 where it is gone."""
    try:
        return float(psutil.Process(pid).memory_info().rss) / 2**20
    except psutil.NoSuchProcess:
        return 0.0


def run_alone(source: Path, out: Path, options: list[str]) -> dict[str, Any]:
    """One run to its end: seconds, resident memory over time, size of the journal."""
    began, lines = time.perf_counter(), 0
    journal, samples, size = out.with_name(f"{out.name}.part") / JOURNAL, [], 0
    with start(source, out, options) as child:
        assert child.stdout is not None
        for _ in child.stdout:  # one for each frame
            lines += 1
            size = max(size, journal.stat().st_size if journal.exists() else 0)
            samples.append([lines, round(rss_mb(child.pid), 1)])
        stderr = child.stderr.read() if child.stderr else ""
    assert child.returncode == 0, stderr
    thirds = [max(mb for _, mb in part) for part in np.array_split(np.array(samples), 3)]
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "frames": lines,
        "journal_bytes": size,
        # Of the whole process: also the first reading of the input and the joining, during which it prints nothing.
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 1),
        "peak_rss_mb_by_third": [round(float(mb), 1) for mb in thirds],
        "rss_mb_at_frame": samples[:: max(1, len(samples) // 20)],
    }


def killed(source: Path, out: Path, options: list[str], size: int) -> str:
    """Kills a run when its journal has a size, or (-1) when it joins; when it was, or "" if it ended before."""
    part = out.with_name(f"{out.name}.part")
    child = start(source, out, options, heard=False)
    while child.poll() is None:
        now = (part / JOURNAL).stat().st_size if (part / JOURNAL).exists() else 0
        joining = (part / out.stem).is_dir()
        if joining if size < 0 else now >= size:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            return "" if child.returncode == 0 else "while joining" if joining else f"{now} bytes"
        time.sleep(OFTEN_S)
    return ""


def run_killed(source: Path, out: Path, options: list[str], sizes: list[int]) -> dict[str, Any]:
    """Kills a run when its journal has each of the sizes, once more while it joins, and lets it end then."""
    killed_at = []
    for size in [*sizes, -1]:
        while not (when := killed(source, out, options, size)):
            out.unlink()  # it came to its end unseen: once more
        killed_at.append(when)
    child = start(source, out, options)
    stdout, stderr = child.communicate()
    assert child.returncode == 0, stderr
    records = [json.loads(line) for line in stdout.splitlines()]
    return {
        "killed": killed_at,
        "frames_of_the_last_run": len(records),
        "of_them_finished_before": sum("skipped" in record for record in records),
        "each_frame_once": len({record["frame"] for record in records}) == len(records),
    }


def counts(path: Path) -> dict[str, int]:
    with Recording(path) as recording:
        return {topic.name: topic.count for topic in sorted(recording.topics.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--method", default="default")
    parser.add_argument("--foundation", default="none")
    parser.add_argument("--out", type=Path, help="folder for recordings.json")
    given = parser.parse_args()
    options = ["--method", given.method, "--foundation", given.foundation, "--max-anchors", "50"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "in.mcap"
        make_recording(source, given.frames)
        alone = run_alone(source, folder / "alone.mcap", options)
        rng = random.Random(0)
        sizes = sorted(rng.randrange(alone["journal_bytes"]) for _ in range(given.kills))
        # The name decides a line of metadata inside the file: that of the other run.
        (folder / "killed").mkdir()
        killed = run_killed(source, folder / "killed" / "alone.mcap", options, sizes)
        found = {
            "command": f"python -m mrac.lab.studies.recordings --frames {given.frames} --kills {given.kills} "
            f"--method {given.method} --foundation {given.foundation}",
            "machine": f"{os.cpu_count()} cores {platform.machine()}, load average {os.getloadavg()[0]:.1f}",
            "input_bytes": source.stat().st_size,
            "output_bytes": (folder / "alone.mcap").stat().st_size,
            "messages": counts(folder / "alone.mcap"),
            "alone": alone,
            "killed": killed,
            "equal_to_the_byte": sha256_of(folder / "alone.mcap") == sha256_of(folder / "killed" / "alone.mcap"),
        }
    print(json.dumps(found, indent=2))
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "recordings.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
