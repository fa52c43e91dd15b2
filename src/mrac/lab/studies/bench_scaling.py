"""What a cell of the benchmark costs: over the number of images, and over the number of methods that share a run.

    OMP_NUM_THREADS=1 python -m mrac.lab.studies.bench_scaling --data ../shared/data/eval

The engine's own plan, work and files, in this process with one thread, each time with an empty cache of predictions;
networks are loaded and kernels compiled before the clock starts. Readings are clean, a quarter near, a quarter dropped
out: the more conditions share a prediction, the less of the cost is common to methods. Methods of one run share decoded
images, predictions and anchors: beside their time together stands the sum of their times alone. Processor time, not the
wall's, and the least of --repeats rounds, since others use the machine as well.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import track

from mrac.lab.bench.plan import plan
from mrac.lab.bench.protocol import Cell, Protocol
from mrac.lab.bench.store import cell_of, write_cell
from mrac.lab.bench.work import Job, perform, prepare_worker
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.runtime.cache.location import FOLDER_VARIABLE
from mrac.runtime.parallel import num_cores

METHODS: Final = ("vanilla", "b_prime", "mrac", "mrac_b_prime", "sml_retrained", "ransac_residual", "cfa_ols")


@dataclass(frozen=True)
class Setting:
    """What stays the same over all measurements.

    Attributes:
        data: folder of the sets.
        set_name: the set whose first images are taken.
        families: of wrong readings, a quarter of them; clean ones are always there.
    """

    data: Path
    set_name: str
    families: tuple[str, ...] = ("near", "dropout")

    def protocol(self, methods: Sequence[str]) -> Protocol:
        lists = {"sets": [self.set_name], "methods": list(methods), "families": list(self.families)}
        return Protocol.of({"name": "scaling", "grid": [{**lists, "fractions": [0.0, 0.25]}]})


def measure(setting: Setting, methods: Sequence[str], num_images: int) -> tuple[float, int]:
    """Processor seconds from nothing to files, and the number of cells."""
    protocol = setting.protocol(methods)
    cells = protocol.cells()
    job = Job(str(setting.data.resolve()), json.dumps(protocol.to_json()))
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER_VARIABLE] = str(Path(folder) / "predictions")
        start = time.process_time()
        rows: dict[Cell, list[dict[str, Any]]] = {cell: [] for cell in cells}
        for task in plan(cells, {setting.set_name: num_images}, {}):
            for row in perform(job, task):
                rows[cell_of(row)].append(row)
        for cell, own in rows.items():
            write_cell(Path(folder), cell, own)
        took = time.process_time() - start
    failures = {row["failure"] for own in rows.values() for row in own if row.get("failure") is not None}
    if failures:
        raise SystemExit(f"studies/bench_scaling: a failure costs nothing, so none may be: {failures.pop()}")
    return took, len(cells)


def line(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Least squares y = intercept + slope · x, and the share of the variance that it explains."""
    slope, intercept = np.polyfit(x, y, 1)
    left = np.asarray(y) - (intercept + slope * np.asarray(x))
    return {"slope": float(slope), "intercept": float(intercept), "r2": float(1 - left.var() / np.var(y))}


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the power law through the points: 1 is linear, less is sublinear."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def least(setting: Setting, wanted: Sequence[tuple[tuple[str, ...], int]], repeats: int) -> dict[Any, float]:
    """By methods and images, the least time of all rounds; a round goes through all, so that none has all the luck."""
    times: dict[tuple[tuple[str, ...], int], float] = {}
    jobs = [one for _ in range(repeats) for one in wanted]
    for methods, num_images in track(jobs, description="measuring"):
        took, _ = measure(setting, methods, num_images)
        times[methods, num_images] = min(took, times.get((methods, num_images), np.inf))
    return times


def summary(
    times: Mapping[tuple[tuple[str, ...], int], float], images: Sequence[int], methods: Sequence[str],
    counts: Sequence[int], num_conditions: int,
) -> dict[str, Any]:  # fmt: skip
    """The two curves and what they say."""
    num_cells, most = len(methods) * num_conditions, max(images)
    fixed = images[len(images) // 2]
    per_cell = [times[tuple(methods), n] / num_cells for n in images]
    together = [times[tuple(methods[:m]), fixed] for m in counts]
    apart = [sum(times[(method,), fixed] for method in methods[:m]) for m in counts]
    return {
        "over_images": {
            "images": list(images),
            "seconds_per_cell": per_cell,
            "line": line(images, per_cell),
            "exponent": exponent(images, per_cell),
            "rows_per_second": most / per_cell[images.index(most)],
        },
        "over_methods": {
            "images": fixed,
            "methods": list(counts),
            "seconds_together": together,
            "seconds_apart": apart,
            "seconds_per_cell": [t / (m * num_conditions) for t, m in zip(together, counts, strict=True)],
            # Methods cost differently, so that "apart" is the measure of their number.
            "exponent": exponent(apart, together),
        },
    }


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Two panels."""
    import matplotlib as mpl  # noqa: PLC0415  (extra `lab`)

    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    images, methods = found["over_images"], found["over_methods"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    x, fitted = np.array([0, max(images["images"])]), images["line"]
    left.plot(x, fitted["intercept"] + fitted["slope"] * x, color="0.6", label=f"line, R² = {fitted['r2']:.4f}")
    left.plot(images["images"], images["seconds_per_cell"], "o", color="C0", label="measured")
    left.set(
        xlabel="images",
        ylabel="processor seconds per cell",
        title="A cell's cost is linear in its images",
        ylim=(0, None),
    )
    counts = methods["methods"]
    right.plot(counts, methods["seconds_apart"], "s--", color="0.6", label="each in a run of its own, added")
    right.plot(counts, methods["seconds_together"], "o-", color="C0", label="in one run")
    right.set(
        xlabel="methods", ylabel=f"processor seconds, {methods['images']} images", ylim=(0, None),
        title=f"Methods share the work (exponent {methods['exponent']:.2f})",
    )  # fmt: skip
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--set", default="nyu")
    parser.add_argument("--images", type=int, nargs="+", default=[5, 10, 20, 40])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4, 7], help="of the methods, the first ones")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=results_folder("scaling"))
    given = parser.parse_args(arguments)

    machine = f"{num_cores()}cores-{platform.machine()}, one of them used"
    prepare_worker()
    setting, methods, counts = Setting(given.data, given.set), tuple(given.methods), given.counts
    images, fixed = given.images, given.images[len(given.images) // 2]
    _, num_cells = measure(setting, methods, 1)  # loads and compiles
    wanted = [(methods, n) for n in images] + [(methods[:m], fixed) for m in counts] + [((m,), fixed) for m in methods]
    times = least(setting, list(dict.fromkeys(wanted)), given.repeats)
    found = summary(times, images, methods, counts, num_cells // len(methods))
    given.out.mkdir(parents=True, exist_ok=True)
    alone = {method: times[(method,), fixed] for method in methods}
    about = {"machine": machine, "set": given.set, "repeats": given.repeats, "alone_seconds": alone}
    write_results(given.out / "scaling.json", **about, **found)
    draw(found, given.out / "scaling.png")
    over = found["over_methods"]
    Console().print(
        f"per cell: {found['over_images']['line']}; {counts[-1]} methods: together "
        f"{over['seconds_together'][-1]:.1f} s, apart {over['seconds_apart'][-1]:.1f} s"
    )


if __name__ == "__main__":
    main()
