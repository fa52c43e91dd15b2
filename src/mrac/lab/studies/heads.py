"""Every learned head beside the affine fit it starts from: AbsRel from clean anchors, the same ones for all.

    python -m mrac.lab.studies.heads --data ../shared/data/eval

First all methods on all sets at K = 50, then the residual heads over the number of anchors on NYUv2. A method is a name
of `mrac list methods`, or a head in place of the affine one: `residual_unet:weights=run/vanilla.onnx`. Scores are kept
one by one in --out while it runs: killed, the same command goes on.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Calibrator
from mrac.foundation._cached import predict
from mrac.foundation.embedded import NETWORK
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import abs_rel, draw_anchors, results_folder, summary, truth_of, write_results
from mrac.runtime.cache import default_store

_REFERENCE = "cfa_ols"
_METHODS = (_REFERENCE, "vanilla", "b_prime", "mrac", "mrac_b_prime", "ransac_residual", "raw_depth", "vi_depth_ga",
            "sml_retrained", "default")  # fmt: skip
_SWEPT = (_REFERENCE, "vanilla", "b_prime", "raw_depth", "sml_retrained")
_BUDGETS = (5, 10, 25, 50, 100, 200, 500, 1000)
_Scores = dict[tuple[str, str, int], dict[str, float]]
"""By set, method and K, then by image."""


def calibrator_of(method: str, foundation: str) -> Calibrator:
    if ":" not in method:
        return Calibrator(method, foundation=foundation)
    space = "inverse_depth" if method.startswith("sml:") else "depth"
    return Calibrator(_REFERENCE, head=method, space=space, foundation=foundation)


def digest(methods: Sequence[str]) -> str:
    """Of all weights in play: scores of other ones are not gone on with."""
    files = [Path(word.partition("weights=")[2].partition(",")[0]) for word in methods if "weights=" in word]
    content = hashlib.sha256()
    for file in sorted([*NETWORK.parent.glob("*.onnx"), *(file for file in files if file.is_file())]):
        content.update(file.read_bytes())
    return content.hexdigest()[:8]


class Kept:
    """The scores so far, a line of JSON each."""

    def __init__(self, path: Path) -> None:
        self.path, self.scores = path, _Scores()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
        whole = [line for line in lines if line.endswith("\n")]  # the last one may be half written
        path.write_text("".join(whole), encoding="utf-8")
        for line in whole:
            self._keep(*json.loads(line))

    def _keep(self, set_name: str, method: str, num_anchors: int, image: str, error: float) -> None:
        self.scores.setdefault((set_name, method, num_anchors), {})[image] = error

    def add(self, set_name: str, method: str, num_anchors: int, image: str, error: float) -> None:
        self._keep(set_name, method, num_anchors, image, error)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([set_name, method, num_anchors, image, error]) + "\n")

    def has(self, set_name: str, method: str, num_anchors: int, image: str) -> bool:
        return image in self.scores.get((set_name, method, num_anchors), {})


def measure(
    arguments: argparse.Namespace, set_name: str, wanted: Sequence[tuple[str, int]], limit: int | None, kept: Kept
) -> None:
    """Scores the images of a set with each (method, K) of `wanted`; their relative depth is predicted once."""
    calibrators = {method: calibrator_of(method, arguments.foundation) for method, _ in wanted}
    store = default_store()
    frames = list(read_manifest(arguments.data, set_name))[:limit]
    for frame in track(frames, description=set_name):
        missing = [(m, k) for m, k in wanted if not kept.has(set_name, m, k, frame.name)]
        if not missing:
            continue
        image, truth_m = frame.image(), truth_of(frame)
        relative, _ = predict(calibrators[missing[0][0]].foundation, image, store)
        for method, k in missing:
            anchors = draw_anchors(frame, truth_m, k, arguments.seed)
            error = abs_rel(set_name, calibrators[method](image, anchors, relative).depth_m, truth_m)
            kept.add(set_name, method, k, frame.name, error)


def row(scores: dict[str, float], reference: dict[str, float]) -> dict[str, float]:
    """AbsRel, and how it compares with the reference image by image."""
    difference = np.array([scores[image] - reference[image] for image in scores])
    paired = {"less_than_affine": round(float(-difference.mean()), 5)}
    if len(difference) > 1:
        paired["standard_error_of_less"] = round(float(difference.std(ddof=1) / len(difference) ** 0.5), 5)
    return {**summary(list(scores.values())), **paired, "share_better": round(float((difference < 0).mean()), 3)}


def show(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float]]) -> str:
    """Prints a table; gives it as Markdown."""
    table = Table("", *columns, title=title)
    for name, values in rows.items():
        table.add_row(name, *(f"{value:.4f}" for value in values))
    Console().print(table)
    lines = [f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(f'{value:.4f}' for value in values)} |" for name, values in rows.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu", "kitti15", "sunrgbd", "tum"])
    parser.add_argument("--methods", nargs="+", default=list(_METHODS), metavar="SPEC")
    parser.add_argument("--anchors", type=int, default=50)
    parser.add_argument("--swept", nargs="*", default=list(_SWEPT), metavar="SPEC", help="over the number of anchors")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(_BUDGETS))
    parser.add_argument("--foundation", default="embedded", metavar="SPEC")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="images per set")
    parser.add_argument("--sweep-limit", type=int, default=None, help="images over the number of anchors")
    parser.add_argument("--out", type=Path, default=results_folder("heads"))
    arguments = parser.parse_args()

    methods = list(dict.fromkeys([_REFERENCE, *arguments.methods]))
    swept = list(dict.fromkeys([_REFERENCE, *arguments.swept])) if arguments.swept else []
    kept = Kept(arguments.out / f"scores-{digest([*methods, *swept])}-seed{arguments.seed}.jsonl")
    for set_name in arguments.sets:
        measure(arguments, set_name, [(method, arguments.anchors) for method in methods], arguments.limit, kept)
    first = arguments.sets[0]
    measure(arguments, first, [(m, k) for m in swept for k in arguments.budgets], arguments.sweep_limit, kept)

    def result(set_name: str, method: str, k: int, images: set[str] | None = None) -> dict[str, float]:
        own = {i: error for i, error in kept.scores[set_name, method, k].items() if images is None or i in images}
        return row(own, kept.scores[set_name, _REFERENCE, k])

    table = {m: {s: result(s, m, arguments.anchors) for s in arguments.sets} for m in methods}
    # At K = 50 more images may have been scored; a curve is over the same ones everywhere.
    scored = [set(kept.scores[first, m, k]) for m in swept for k in arguments.budgets]
    common = set.intersection(*scored) if scored else set()
    sweep = {m: {str(k): result(first, m, k, common) for k in arguments.budgets} for m in swept}
    text = show(
        f"AbsRel, K = {arguments.anchors}",
        arguments.sets,
        {m: [cells["abs_rel"] for cells in by_set.values()] for m, by_set in table.items()},
    )
    if sweep:
        rows = {m: [cells["abs_rel"] for cells in by_k.values()] for m, by_k in sweep.items()}
        text += "\n" + show(f"AbsRel, {first}", [f"K = {k}" for k in arguments.budgets], rows)
    (arguments.out / f"heads-seed{arguments.seed}.md").write_text(text, encoding="utf-8")
    write_results(arguments.out / f"heads-seed{arguments.seed}.json", seed=arguments.seed, methods=table, sweep=sweep)
    kept.path.unlink()


if __name__ == "__main__":
    main()
