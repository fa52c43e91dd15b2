"""Zone readings used as points, as they are recognised, and as areas: AbsRel and coverage.

    python -m mrac.lab.studies.zones --data ../shared/data/eval --sets nyu kitti15 sunrgbd tum
    python -m mrac.lab.studies.zones --data ../shared/data/eval --sets nyu kitti15 sunrgbd tum --of-points

A reading is the mean true depth of the pixels of a zone that have any (`mrac.lab.placement.zones`), as of a multizone
time-of-flight sensor whose field of view is the image; with `--of-points` the true depth at the zone's centre, which
must not be taken for a mean. The uses differ in `Anchors.extent_px` alone: 0, none, or the size of a zone.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray
from mrac.foundation._cached import predict
from mrac.lab.data.manifest import Frame, read_manifest, rules_of
from mrac.lab.placement.zones import Zones
from mrac.lab.studies.protocol import abs_rel, results_folder, summary, truth_of, write_results
from mrac.lognormal import interval
from mrac.runtime.cache import default_store

USES: Final = ("points", "as_given", "areas")
LEVEL: Final = 0.9


class Score(NamedTuple):
    """Of one image: AbsRel, coverage, and whether the readings were recognised as zones."""

    abs_rel: float
    coverage: float
    recognised: bool


def zone_readings(truth_m: FloatArray, num: int, use: str, of_points: bool = False) -> Anchors:
    """One reading for each zone of `num` × `num` that has enough truth (H, W), for one of `USES`.

    Means are at the centres of the zones; `of_points`, at the pixel nearest to each that has a depth.
    """
    H, W = truth_m.shape
    valid = truth_m > 0.0
    zones = Zones(num)
    uv_px = zones(valid, num * num, np.random.default_rng(0))  # all of them: chance settles their order alone
    size = np.array([W / num, H / num])
    extent = {"points": np.zeros_like(uv_px), "as_given": None, "areas": np.tile(size, (len(uv_px), 1))}[use]
    if of_points:
        return Anchors(uv_px, truth_m[uv_px[:, 1], uv_px[:, 0]], extent_px=extent)
    cell = uv_px * num // (W, H)
    return Anchors((cell + 0.5) * size - 0.5, zones.read(truth_m, valid, uv_px), extent_px=extent)


def coverage(set_name: str, depth_m: FloatArray, sigma_m: FloatArray, truth_m: FloatArray) -> float:
    """The share of scored pixels whose truth lies in the interval of probability `LEVEL`."""
    scored = rules_of(set_name).scored(truth_m)
    low, high = interval(depth_m, sigma_m, LEVEL)
    return float(((truth_m >= low) & (truth_m <= high))[scored].mean())


def scores_of(
    frames: Sequence[Frame], set_name: str, calibrator: Calibrator, num: int, of_points: bool
) -> dict[str, list[Score]]:
    """The scores of every frame by use."""
    store = default_store()
    scores: dict[str, list[Score]] = {use: [] for use in USES}
    for frame in track(frames, description=set_name):
        image, truth_m = frame.image(), truth_of(frame)
        relative, _ = predict(calibrator.foundation, image, store)
        for use, collected in scores.items():
            out = calibrator(image, zone_readings(truth_m, num, use, of_points), relative)
            covered = coverage(set_name, out.depth_m, out.sigma_m, truth_m)
            recognised = any(finding.name == "zones" for finding in out.warnings)
            collected.append(Score(abs_rel(set_name, out.depth_m, truth_m), covered, recognised))
    return scores


def spaced(frames: Sequence[Frame], limit: int | None) -> Sequence[Frame]:
    """At most `limit` of them, evenly spaced: neighbours in a manifest are often of one scene."""
    if limit is None or limit >= len(frames):
        return frames
    return [frames[i * len(frames) // limit] for i in range(limit)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=None, help="of the manifest; all by default")
    parser.add_argument("--zones", type=int, default=8, help="along each side of the image")
    parser.add_argument("--of-points", action="store_true", help="readings of single pixels at the same places")
    parser.add_argument("--limit", type=int, default=None, help="images per set, evenly spaced")
    parser.add_argument("--method", default="default")
    parser.add_argument("--out", type=Path, default=results_folder("zones"))
    given = parser.parse_args(arguments)

    sets = given.sets or list(dict.fromkeys(frame.row["set"] for frame in read_manifest(given.data)))
    calibrator = Calibrator(given.method)
    what = "points on a grid" if given.of_points else "zones"
    title = f"{given.zones} × {given.zones} {what}, {given.method}: AbsRel, and coverage of {LEVEL:.0%} intervals"
    table = Table("set", "images", *(use.replace("_", " ") for use in USES), "taken for zones", title=title)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in sets:
        frames = spaced(list(read_manifest(given.data, name)), given.limit)
        row = {
            use: {
                **summary([score.abs_rel for score in scores]),
                "coverage": round(float(np.mean([score.coverage for score in scores])), 4),
                "recognised": round(float(np.mean([score.recognised for score in scores])), 4),
            }
            for use, scores in scores_of(frames, name, calibrator, given.zones, given.of_points).items()
        }
        results[name] = row
        cells = (f"{row[use]['abs_rel']:.4f}, {row[use]['coverage']:.0%}" for use in USES)
        table.add_row(name, str(len(frames)), *cells, f"{row['as_given']['recognised']:.0%}")
    Console().print(table)
    file = f"{given.data.name}-{given.zones}x{given.zones}{'-points' if given.of_points else ''}.json"
    write_results(given.out / file, zones=given.zones, of_points=given.of_points, sets=results)


if __name__ == "__main__":
    main()
