"""How the time of a call grows with the number of readings, from 50 to 100,000, beside K log K.

    python -m mrac.lab.studies.growth --methods default fast

The demo's photograph at 480 × 640, its relative depth given, readings at distinct pixels with 10 % of noise, a tenth of
them too near. Processor time of the whole call after the network, least of the runs. The claim that is tested: from 500
readings on, no step of K takes longer than K log K would from the step before, within 20 %.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray, ImageArray
from mrac.demo import motorcycle
from mrac.lab.studies.protocol import results_folder, write_results

COUNTS: Final = (50, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_SHAPE: Final = (480, 640)
_FROM: Final = 500  # below, what every call costs hides how it grows
_TOLERANCE: Final = 1.2


def scene() -> tuple[ImageArray, FloatArray]:
    """The photograph and its measured depth (H, W), the median in its holes."""
    found = motorcycle()
    H, W = _SHAPE
    image = np.asarray(Image.fromarray(found.image).resize((W, H)))
    depth = np.nan_to_num(found.truth_m, nan=float(np.nanmedian(found.truth_m))).astype(np.float32)
    return image, np.asarray(Image.fromarray(depth).resize((W, H), Image.Resampling.NEAREST))


def readings(depth_m: FloatArray, num: int) -> Anchors:
    """`num` readings at distinct pixels, a tenth of them too near."""
    rng = np.random.default_rng(num)
    pixel = rng.permutation(depth_m.size)[:num]
    z_m = depth_m.ravel()[pixel] * np.exp(0.1 * rng.normal(size=num))
    z_m[rng.random(num) < 0.1] *= 0.4
    v, u = np.unravel_index(pixel, depth_m.shape)
    return Anchors(np.stack([u, v], axis=1), z_m)


def seconds(method: str, counts: Sequence[int], runs: int) -> list[float]:
    """Least processor time of a call for each number of readings, relative depth given."""
    image, depth_m = scene()
    calibrator = Calibrator(method)
    relative = calibrator.foundation(image)
    found = []
    for num in track(counts, method):
        anchors = readings(depth_m, num)
        times = []
        for _ in range(runs + 1):  # one to warm up
            start = time.process_time()
            calibrator(image, anchors, relative)
            times.append(time.process_time() - start)
        found.append(min(times[1:]))
    return found


def steps(counts: Sequence[int], times: Sequence[float]) -> list[dict[str, Any]]:
    """Each step from `_FROM` on: its growth, that of K log K, and whether the first is no more than the second."""
    found = []
    for (a, b), (s, t) in zip(pairwise(counts), pairwise(times), strict=True):
        if a >= _FROM:
            allowed = b * np.log(b) / (a * np.log(a))
            holds = bool(t / s <= _TOLERANCE * allowed)
            found.append({"from": a, "to": b, "growth": round(t / s, 2), "k_log_k": round(allowed, 2), "holds": holds})
    return found


def draw(counts: Sequence[int], times: dict[str, list[float]], path: Path) -> None:
    """Times and K log K through the last of each, both axes logarithmic."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    k = np.array(counts, float)
    for i, (method, seconds_K) in enumerate(times.items()):
        axes.loglog(k, np.array(seconds_K) * 1e3, "o-", color=f"C{i}", label=method)
    last = max(times.values(), key=lambda t: t[-1])[-1]
    axes.loglog(k, last * 1e3 * k * np.log(k) / (k[-1] * np.log(k[-1])), "--", color="0.6", label="K log K")
    axes.set(xlabel="readings K", ylabel="processor time of a call without the network, ms")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["default"], metavar="METHOD")
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS), metavar="K")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=results_folder("growth"))
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    times = {method: seconds(method, given.counts, given.runs) for method in given.methods}
    table = Table("K", *(f"{method}, ms" for method in times))
    for i, num in enumerate(given.counts):
        table.add_row(f"{num:,}", *(f"{1e3 * t[i]:.1f}" for t in times.values()))
    Console().print(table)
    grown = {method: steps(given.counts, t) for method, t in times.items()}
    draw(given.counts, times, given.out / "growth.png")
    write_results(given.out / "growth.json", counts=given.counts, processor_seconds=times, steps=grown)


if __name__ == "__main__":
    main()
