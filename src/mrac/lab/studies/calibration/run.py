"""Measures whether a method's stated uncertainty means something: of pixels, and of verdicts on anchors.

    python -m mrac.lab.studies.calibration --data ../shared/data/eval --out DIR [--limit 60] [--method default]

K = 50, seed 0, clean and each family at 25 %, with the benchmark's own draws. Coverage of the central intervals that
`MetricDepth.interval` gives, reliability of `Verdicts.wrong`, and sparsification of AbsRel by the stated deviation
beside the distance to the nearest anchor. By default 60 images of each set, spread evenly; --limit 0 takes all. One
process per core. Writes calibration.json, calibration.md and figures.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import track

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.foundation._cached import predict
from mrac.io.files import write_whole
from mrac.lab.bench.conditions import WRONG_SHARE, Draws
from mrac.lab.bench.methods import parse_method
from mrac.lab.bench.protocol import CLEAN, Condition, Protocol
from mrac.lab.bench.report.figures.style import save
from mrac.lab.bench.work import ENVIRONMENT, prepare_worker, sets_in
from mrac.lab.data import Sample
from mrac.lab.studies.calibration.measures import LEVELS, ause, ideal_sparsification, sparsification
from mrac.lab.studies.calibration.page import figures, page, summary
from mrac.lab.studies.claim import FAMILIES, SETS
from mrac.lab.studies.protocol import write_results
from mrac.result import MetricDepth
from mrac.runtime.cache import default_store
from mrac.runtime.forking import die_with_parent
from mrac.runtime.parallel import num_cores

_FRACTION: Final = 0.25
# Pixels per image whose order is compared: more change the third digit of an area and cost ten times as much.
_NUM_SORTED: Final = 20_000
Row = dict[str, Any]


@dataclass(frozen=True)
class Image:
    """One image of a set, by its place."""

    set_name: str
    place: int


def conditions(set_name: str) -> list[Condition]:
    """Clean, then each family."""
    return [
        Condition(set_name=set_name, family=f, fraction=0.0 if f == CLEAN else _FRACTION) for f in (CLEAN, *FAMILIES)
    ]


def chosen(num_images: int, limit: int) -> list[int]:
    """Places spread evenly over a set; all of them where the limit is 0 or no fewer."""
    if limit <= 0 or limit >= num_images:
        return list(range(num_images))
    return [round(place) for place in np.linspace(0, num_images - 1, limit).tolist()]


def measure(data: str, method: str, image: Image) -> list[Row]:
    """A row per condition of one image, or the reason why there is none."""
    sample, protocol, calibrator = _sets(data)[image.set_name][image.place], _protocol(), _calibrator(method)
    draws = Draws(sample, protocol, _no_uncertainty)
    relative, _ = predict(calibrator.foundation, sample.image, default_store())
    rows: list[Row] = []
    for condition in conditions(image.set_name):
        row: Row = {"set": image.set_name, "image": sample.id, "family": condition.family}
        try:
            drawn = draws(condition)
            result = calibrator(sample.image, drawn.anchors, relative)
        except ContractError as error:
            rows.append(row | {"failure": str(error)})
            continue
        u, v = drawn.anchors.uv_px.astype(np.intp).T  # drawn at pixels
        truth_m = sample.truth_m[v, u]
        far = np.abs(drawn.anchors.z_m - truth_m) > WRONG_SHARE * truth_m
        row |= {"wrong": result.anchors.outlier_probability, "is_wrong": drawn.wrong, "is_far": far}
        rows.append(row | pixels(sample, result, drawn.anchors))
    return rows


def pixels(sample: Sample, result: MetricDepth, anchors: Anchors) -> Row:
    """Coverage, and curves of the remaining error, at the scored pixels of one image."""
    scored = np.flatnonzero(sample.scored)
    truth_m = sample.truth_m.reshape(-1)[scored]
    coverage = []
    for level in LEVELS:
        low, high = (end.reshape(-1)[scored] for end in result.interval(level))
        coverage.append(float(np.mean((low <= truth_m) & (truth_m <= high))))
    # Evenly spaced, then shuffled: where a doubt is the same at many pixels, their order must not be that of the image.
    few = scored[:: max(scored.size // _NUM_SORTED, 1)]
    few = np.random.default_rng(0).permutation(few)
    depth_m, sigma_m = (values.reshape(-1)[few] for values in (result.depth_m, result.sigma_m))
    truth_m = sample.truth_m.reshape(-1)[few]
    clipped = np.clip(depth_m, sample.rules.min_depth_m, sample.rules.max_depth_m)
    error = np.abs(clipped - truth_m) / truth_m
    doubts = {
        "relative deviation": sigma_m / depth_m,
        "deviation": sigma_m,
        "distance to kept": distance(few, sample.truth_m.shape[1], anchors.uv_px[result.anchors.keep]),
        "distance to any": distance(few, sample.truth_m.shape[1], anchors.uv_px),
    }
    ideal = ideal_sparsification(error)
    curves = {"ideal": ideal} | {name: sparsification(error, doubt) for name, doubt in doubts.items()}
    areas = {name: ause(curves[name], ideal) for name in doubts}
    return {"coverage": coverage, "abs_rel": float(error.mean()), "curves": curves, "ause": areas}


def distance(pixel: Any, width: int, uv_px: FloatArray) -> FloatArray:
    """(N,) pixels to the nearest of (K, 2) anchors from flat places in an image; all alike where there is none."""
    from scipy.spatial import KDTree  # noqa: PLC0415  (workers alone need it)

    if not len(uv_px):
        return np.zeros(len(pixel))
    return np.asarray(KDTree(uv_px).query(np.column_stack([pixel % width, pixel // width]))[0])


def _no_uncertainty(anchors: Anchors) -> FloatArray:
    raise AssertionError(f"placement at random asked for a map of uncertainty, with {len(anchors)} anchors")


@lru_cache(maxsize=1)
def _sets(data: str) -> dict[str, Any]:
    return sets_in(Path(data))


@lru_cache(maxsize=1)
def _protocol() -> Protocol:
    return Protocol.read("beyond")


@lru_cache(maxsize=1)
def _calibrator(method: str) -> Any:
    return parse_method(method).calibrator()


def _start() -> None:
    prepare_worker()
    die_with_parent()


def measured(data: Path, method: str, images: Sequence[Image], workers: int) -> Iterator[list[Row]]:
    """Rows of all images, in order; one process per worker, or this one for none."""
    if not workers:
        yield from map(partial(measure, str(data), method), images)
        return
    os.environ.update(ENVIRONMENT)  # BLAS counts its threads when it is loaded, and no later
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start) as pool:
        yield from pool.map(partial(measure, str(data), method), images, chunksize=2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m mrac.lab.studies.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=None, help="those of the paper's grid that the folder holds")
    parser.add_argument("--limit", type=int, default=60, help="images per set, spread evenly; 0 for all")
    parser.add_argument("--method", default="default", metavar="SPEC", help="`default;gate=none` and the like")
    parser.add_argument("--workers", type=int, default=num_cores(), help="processes; 0 for none but this")
    given = parser.parse_args(arguments)
    if parse_method(given.method).has_oracle:
        raise ContractError("calibration: an oracle states no probabilities; another --method is needed")

    there = sets_in(given.data)
    names = given.sets or [name for name in SETS if name in there] or list(there)
    if unknown := [name for name in names if name not in there]:
        raise ContractError(f"calibration: {given.data} has no set {unknown[0]!r}; known: {', '.join(there)}")
    images = [Image(name, place) for name in names for place in chosen(len(there[name]), given.limit)]
    found = measured(given.data, given.method, images, given.workers)
    console = Console()
    tracked = track(
        found, total=len(images), description="calibration", console=console, disable=not console.is_terminal
    )
    rows = [row for own in tracked for row in own]
    result = summary(rows, names)
    given.out.mkdir(parents=True, exist_ok=True)
    write_results(given.out / "calibration.json", method=given.method, limit=given.limit, **result)
    for figure in figures(rows, names):
        save(figure, given.out, ("png",))
    text = page(result, given.method, given.limit)
    write_whole(given.out / "calibration.md", lambda file: file.write(text.encode()))
    for words in result["verdicts"]:
        console.print(
            f"{'holds' if words['holds'] else 'does not hold':16}{words['asks']}: {words['here']}", soft_wrap=True
        )
