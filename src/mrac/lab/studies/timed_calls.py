"""Calls of a method in a process of its own, timed: for each number on standard input so many. For `real_time`.

    python -P timed_calls.py SCENE.npz METHOD[@DEVICE]

Imports nothing of the laboratory: it runs with the package of another checkout too.
"""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

from mrac import Anchors, Calibrator

_WARM_UP: Final = 10


def serve(scene: Path, method: str) -> None:
    """A process of its own: for each number on standard input, so many calls, timed."""
    arrays = np.load(scene, allow_pickle=False)
    image, anchors = arrays["image"], Anchors(arrays["uv_px"], arrays["z_m"])
    name, at, device = method.partition("@")
    calibrator = Calibrator(name, device=device) if at else Calibrator(name)  # another checkout may know no devices
    for _ in range(_WARM_UP):
        calibrator(image, anchors)
    print("ready", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            wall, processor = time.perf_counter(), time.process_time()
            calibrator(image, anchors)
            times.append([(time.perf_counter() - wall) * 1e3, (time.process_time() - processor) * 1e3])
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"times": times, "peak_mb": peak_mb}), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
