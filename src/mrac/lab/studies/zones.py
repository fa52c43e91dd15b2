"""Zone readings used as areas, against the same readings used as points at the zones' centres: AbsRel and coverage.

    python -m mrac.lab.studies.zones --data ../shared/data/eval --sets nyu kitti15 sunrgbd tum

A reading is the mean true depth of the pixels of a zone that have any (`mrac.lab.placement.zones`), as of a multizone
time-of-flight sensor whose field of view is the image. Both uses differ in `Anchors.extent_px` alone.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

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

USES: Final = ("points", "areas")
LEVEL: Final = 0.9


def zone_readings(truth_m: FloatArray, num: int, as_areas: bool) -> Anchors:
    """One reading for each zone of `num` × `num` that has enough truth (H, W), at the centre of the zone."""
    H, W = truth_m.shape
    valid = truth_m > 0.0
    zones = Zones(num)
    uv_px = zones(valid, num * num, np.random.default_rng(0))  # all of them: chance settles their order alone
    cell = uv_px * num // (W, H)
    size = np.array([W / num, H / num])
    extent = np.tile(size, (len(cell), 1)) if as_areas else None
    return Anchors((cell + 0.5) * size - 0.5, zones.read(truth_m, valid, uv_px), extent_px=extent)


def coverage(set_name: str, depth_m: FloatArray, sigma_m: FloatArray, truth_m: FloatArray) -> float:
    """The share of scored pixels whose truth lies in the interval of probability `LEVEL`."""
    scored = rules_of(set_name).scored(truth_m)
    low, high = interval(depth_m, sigma_m, LEVEL)
    return float(((truth_m >= low) & (truth_m <= high))[scored].mean())


def scores_of(
    frames: Sequence[Frame], set_name: str, calibrator: Calibrator, num: int
) -> dict[str, list[tuple[float, float]]]:
    """AbsRel and coverage of every frame by use, points and areas."""
    store = default_store()
    scores: dict[str, list[tuple[float, float]]] = {use: [] for use in USES}
    for frame in track(frames, description=set_name):
        image, truth_m = frame.image(), truth_of(frame)
        relative, _ = predict(calibrator.foundation, image, store)
        for use, collected in scores.items():
            out = calibrator(image, zone_readings(truth_m, num, use == "areas"), relative)
            covered = coverage(set_name, out.depth_m, out.sigma_m, truth_m)
            collected.append((abs_rel(set_name, out.depth_m, truth_m), covered))
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
    parser.add_argument("--limit", type=int, default=None, help="images per set, evenly spaced")
    parser.add_argument("--method", default="default")
    parser.add_argument("--out", type=Path, default=results_folder("zones"))
    given = parser.parse_args(arguments)

    sets = given.sets or list(dict.fromkeys(frame.row["set"] for frame in read_manifest(given.data)))
    calibrator = Calibrator(given.method)
    title = f"{given.zones} × {given.zones} zones, {given.method}: AbsRel and coverage of {LEVEL:.0%} intervals"
    table = Table("set", "images", "points", "areas", "less error", "covered, points", "covered, areas", title=title)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in sets:
        frames = spaced(list(read_manifest(given.data, name)), given.limit)
        row = {}
        for use, scores in scores_of(frames, name, calibrator, given.zones).items():
            row[use] = {**summary([s[0] for s in scores]), "coverage": round(float(np.mean([s[1] for s in scores])), 4)}
        results[name] = row
        points, areas = (row[use] for use in USES)
        gain = 1.0 - areas["abs_rel"] / points["abs_rel"]
        errors = (f"{row[use]['abs_rel']:.4f}" for use in USES)
        table.add_row(
            name, str(len(frames)), *errors, f"{gain:.0%}", f"{points['coverage']:.1%}", f"{areas['coverage']:.1%}"
        )
    Console().print(table)
    write_results(given.out / f"{given.data.name}-{given.zones}x{given.zones}.json", zones=given.zones, sets=results)


if __name__ == "__main__":
    main()
