"""Depth from clean anchors: AbsRel by number of anchors on sets of a manifest folder.

    python -m mrac.lab.studies.clean_anchors --data ../shared/data/eval --sets nyu --foundation none

Anchors are drawn anywhere in the image where there is ground truth, per image from a seed sequence of the image's name
and the seed; every pixel inside the set's customary crop is scored, anchors included.
"""

import argparse
import re
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Calibrator
from mrac.foundation._cached import predict
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import abs_rel, draw_anchors, results_folder, summary, truth_of, write_results
from mrac.runtime.cache import default_store


def errors_of(arguments: argparse.Namespace, set_name: str) -> dict[int, list[float]]:
    frames = list(read_manifest(arguments.data, set_name))[: arguments.limit]
    stages = {stage: getattr(arguments, stage) for stage in ("foundation", "gate", "fit", "head")}
    calibrator = Calibrator(arguments.method, **stages)
    store = default_store()
    errors: dict[int, list[float]] = {k: [] for k in arguments.anchors}
    for frame in track(frames, description=set_name):
        image, truth_m = frame.image(), truth_of(frame)
        relative, _ = predict(calibrator.foundation, image, store)
        for num_anchors, collected in errors.items():
            anchors = draw_anchors(frame, truth_m, num_anchors, arguments.seed)
            collected.append(abs_rel(set_name, calibrator(image, anchors, relative).depth_m, truth_m))
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu"])
    parser.add_argument("--anchors", type=int, nargs="+", default=[5, 10, 25, 50, 100, 200])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="images per set")
    parser.add_argument("--method", default="default")
    parser.add_argument("--foundation", default="embedded", metavar="SPEC")
    parser.add_argument("--gate", default="none", metavar="SPEC")
    parser.add_argument("--fit", default=None, metavar="SPEC", help="in place of the method's")
    parser.add_argument("--head", default=None, help="in place of the method's, e.g. kriging:region_length=1e9")
    parser.add_argument("--out", type=Path, default=results_folder("clean-anchors"))
    arguments = parser.parse_args()

    title = f"AbsRel, {arguments.head or arguments.method}, gate {arguments.gate}, foundation {arguments.foundation}"
    table = Table("set", "images", *(f"K = {k}" for k in arguments.anchors), title=title)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for set_name in arguments.sets:
        results[set_name] = {str(k): summary(e) for k, e in errors_of(arguments, set_name).items()}
        rows = list(results[set_name].values())
        table.add_row(set_name, str(rows[0]["images"]), *(f"{row['abs_rel']:.4f}" for row in rows))
    Console().print(table)
    file = f"{re.sub('[^a-zA-Z0-9.]+', '-', arguments.foundation)}-seed{arguments.seed}.json"
    write_results(arguments.out / file, seed=arguments.seed, sets=results)


if __name__ == "__main__":
    main()
