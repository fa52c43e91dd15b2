"""One answer of the page: the library's result of a recipe, and the bytes that the browser gets of it."""

import json
import struct
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mrac.checks import FIXABLE
from mrac.http.encoders import finite
from mrac.io.picture import depth_limits, verdict_colour
from mrac.metrics import depth_metrics
from mrac.result import MetricDepth
from mrac.web.choices import Menu
from mrac.web.predictions import MemoryPredictions
from mrac.web.python_lines import anchors_file, python_lines
from mrac.web.recipe import Readings, Recipe, readings_of
from mrac.web.scenes import Pool, Scene


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result and what it was made of.

    Attributes:
        key: of the recipe.
        scene: of it, without its readings: of these a file may have half a million, and many outcomes are kept.
        recipe: of it.
        readings: that the recipe made.
        result: of the library.
        abs_rel: mean relative error against a depth image; None without one.
        script: the Python lines that give the same result.
        wall_ms: that the calibration took.
    """

    key: str
    scene: Scene
    recipe: Recipe
    readings: Readings
    result: MetricDepth
    abs_rel: float | None
    script: str
    wall_ms: float

    @property
    def num_bytes(self) -> int:
        """In memory, about."""
        maps = self.result.depth_m.nbytes + self.result.sigma_m.nbytes
        return maps + self.scene.num_bytes + 200 * len(self.readings.anchors)


def compute(scene: Scene, recipe: Recipe, menu: Menu, predictions: MemoryPredictions) -> Outcome:
    """Calibrates as the recipe says.

    Raises:
        ContractError: the recipe asks for what is not offered, or the library refuses the call.
    """
    start = time.perf_counter()
    readings = readings_of(scene, recipe)
    calibrator = menu.calibrator(recipe, predictions)
    result = calibrator(scene.image, readings.anchors, camera=scene.camera)
    camera = scene.camera_at(recipe.focal_px)
    script = python_lines(menu.arguments(recipe), readings.anchors, camera, scene.camera is not None)
    wall_ms = (time.perf_counter() - start) * 1e3
    kept = replace(scene, pool=None)
    return Outcome(recipe.key(scene), kept, recipe, readings, result, _error(scene.pool, result), script, wall_ms)


def answer(outcome: Outcome) -> bytes:
    """Length of the JSON (4 bytes, little-endian), JSON padded to a multiple of 4, depth, sigma (float32 each)."""
    text = json.dumps(_summary(outcome), allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    maps = (np.ascontiguousarray(m, "<f4").tobytes() for m in (outcome.result.depth_m, outcome.result.sigma_m))
    return b"".join((struct.pack("<I", len(text)), text, *maps))


def _summary(outcome: Outcome) -> dict[str, Any]:
    result, verdicts = outcome.result, outcome.result.anchors
    height, width = result.depth_m.shape
    wrong = outcome.readings.wrong
    return {
        "id": outcome.key,
        "method": outcome.recipe.method,
        "width": width,
        "height": height,
        "status": result.status,
        "warnings": [{**finding._asdict(), "can_repair": finding.name in FIXABLE} for finding in result.warnings],
        "stages": result.stages,
        "num_kept": int(verdicts.keep.sum()),
        "num_wrong": int(wrong.sum()),
        "num_caught": int((wrong & ~verdicts.keep).sum()),
        "num_lost": int((~wrong & ~verdicts.keep).sum()),
        "abs_rel": outcome.abs_rel,
        "depth_limits": depth_limits(result.depth_m),
        "sigma_limits": depth_limits(result.sigma_m),
        "readings": _readings(outcome),
        "anchors_file": anchors_file(outcome.readings.anchors),
        "python": outcome.script,
        "wall_ms": round(outcome.wall_ms, 1),
    }


def _error(pool: Pool | None, result: MetricDepth) -> float | None:
    if pool is None or not pool.is_dense:
        return None
    return depth_metrics(result.depth_m, pool.depth_m, np.isfinite(pool.depth_m)).abs_rel


def _readings(outcome: Outcome) -> dict[str, list[Any]]:
    """By column, one entry per reading."""
    made, verdicts = outcome.readings, outcome.result.anchors
    count = len(made.anchors)
    pairs = zip(verdicts.keep.tolist(), verdicts.reason.tolist(), strict=True)
    return {
        "u": finite(made.anchors.uv_px[:, 0]),
        "v": finite(made.anchors.uv_px[:, 1]),
        "z_m": finite(made.anchors.z_m),
        "true_m": finite(made.true_m),
        "wrong": made.wrong.tolist(),
        "clicked": [k >= count - made.num_clicked for k in range(count)],
        "keep": verdicts.keep.tolist(),
        "probability": finite(verdicts.outlier_probability),
        "score": finite(verdicts.score),
        "weight": finite(verdicts.weight),
        "reason": verdicts.reason.tolist(),
        "colour": [verdict_colour(keep, reason) for keep, reason in pairs],
    }
