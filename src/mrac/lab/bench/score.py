"""One image under many conditions, by many methods: a row for each, whatever happens."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from mrac import registry
from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.foundation._cached import predict
from mrac.foundation.base import Foundation
from mrac.lab.bench.conditions import Drawn, Draws
from mrac.lab.bench.device import on_device
from mrac.lab.bench.methods import FAULT, calibrate_all, parse_method
from mrac.lab.bench.oracle import right_ones, verdicts
from mrac.lab.bench.protocol import Cell, Condition, Protocol
from mrac.lab.data import Sample
from mrac.lab.foundation_faults import FAULTS
from mrac.lab.seeds import generator
from mrac.metrics import gate_metrics
from mrac.relative import fill_invalid, in_space
from mrac.result import MetricDepth
from mrac.runtime.cache import default_store
from mrac.types import RelativeDepth

Row = dict[str, Any]
COVERAGE: Final = {"coverage_68": 0.6827, "coverage_90": 0.9}
# What stops a run instead of filling a table with failures: the machine's state, not the method's.
_FATAL: Final = (MissingExtra, MemoryError, OSError)
# Whose stated deviation places the anchors of `uncertainty_active`, for all methods alike: the head of Table V.
_FIRST_METHOD: Final = "raw_depth"


class TruthScorer:
    """The eight metrics at the scored pixels of one image; what does not depend on the prediction is computed once.

    In single precision, as predictions are, with sums in double: equal to `metrics.score_depth` to six digits in half
    its time or less, and there are a hundred predictions for an image.
    """

    def __init__(self, sample: Sample) -> None:
        self.pixels = np.flatnonzero(sample.scored)
        if not self.pixels.size:
            raise ContractError("metrics: no valid pixel")
        self._truth_m = sample.truth_m.reshape(-1)[self.pixels].astype(np.float32)
        self._log_truth = np.log(self._truth_m)
        self._limits = np.float32(sample.rules.min_depth_m), np.float32(sample.rules.max_depth_m)

    def __call__(self, depth_m: FloatArray, sigma_m: FloatArray) -> Row:
        """Columns of a row for a prediction (H, W) and its stated deviation (H, W)."""
        raw = depth_m.reshape(-1)[self.pixels].astype(np.float32, copy=False)
        low, high = self._limits
        p = np.fmin(np.fmax(raw, low), high)  # of a NaN and a number they take the number
        error = np.abs(p - self._truth_m)
        relative = error / self._truth_m
        log_error = np.abs(np.log(p) - self._log_truth)
        deviations = np.abs(raw - self._truth_m) / sigma_m.reshape(-1)[self.pixels]
        reach = {name: NormalDist().inv_cdf(0.5 + 0.5 * level) for name, level in COVERAGE.items()}
        return {
            "abs_rel": _mean(relative),
            "sq_rel": _mean(relative * error),
            "rmse": _mean(error * error) ** 0.5,
            "rmse_log": _mean(log_error * log_error) ** 0.5,
            "log10": _mean(log_error) / np.log(10.0).item(),
            **{f"delta{i}": _share(log_error < np.float32(i * np.log(1.25))) for i in (1, 2, 3)},
            "clipped_share": _share(p != raw),
            "num_pixels": int(self.pixels.size),
            **{name: _share(deviations <= np.float32(limit)) for name, limit in reach.items()},
        }


def _mean(values: FloatArray) -> float:
    return float(values.mean(dtype=np.float64))


def _share(values: BoolArray) -> float:
    return np.count_nonzero(values) / values.size


@dataclass(frozen=True, eq=False)
class _Scene:
    """One image in memory with what its conditions and methods share."""

    sample: Sample
    relative: Callable[[str], RelativeDepth | None]
    scorer: TruthScorer
    device: str


def score_image(sample: Sample, protocol: Protocol, cells: Sequence[Cell], device: str = "cpu") -> list[Row]:
    """The rows of one image, in the order of `cells`; image, truth and predictions are made once for all of them.

    Networks of heads run on `device`, see `device.on_device`; all that decides about anchors is on the CPU.

    Raises:
        MissingExtra: a method needs what is not installed.
        OSError: a file cannot be read.
    """
    rows: dict[Cell, Row] = {}
    try:
        scene = _Scene(sample, _Relatives(sample), TruthScorer(sample), device)
    except ContractError as error:
        return [_failed(_identity(sample, cell), error) for cell in cells]
    draws = Draws(sample, protocol, lambda anchors: _first_prediction(scene, anchors))
    drawn: dict[Condition, Drawn | ContractError] = {}
    by_method: dict[str, list[Cell]] = {}
    for cell in cells:
        by_method.setdefault(cell.method, []).append(cell)
        if cell.condition not in drawn:
            drawn[cell.condition] = _attempt(draws, cell.condition)
    for method, own in by_method.items():
        rows |= _score_method(scene, method, own, drawn)
    return [rows[cell] for cell in cells]


def _score_method(
    scene: _Scene, method: str, cells: Sequence[Cell], drawn: Mapping[Condition, Drawn | ContractError]
) -> dict[Cell, Row]:
    rows: dict[Cell, Row] = {}
    given: list[tuple[Cell, Drawn]] = []
    for cell in cells:
        anchors = drawn[cell.condition]
        if isinstance(anchors, Drawn):
            given.append((cell, anchors))
        else:
            rows[cell] = _failed(_identity(scene.sample, cell), anchors)
    calibrator = on_device(_calibrator(method, scene.sample.rules.max_range_m), scene.device)
    try:
        relative = scene.relative(method)
    except _FATAL:
        raise
    except Exception as error:  # a foundation that cannot take this image: a row for each
        return rows | {cell: _failed(_identity(scene.sample, cell, anchors), error) for cell, anchors in given}
    oracle = parse_method(method).has_oracle
    seen = [right_ones(anchors) if oracle else anchors.anchors for _, anchors in given]
    results = calibrate_all(calibrator, scene.sample.image, relative, seen)
    start = time.perf_counter()
    for (cell, anchors), result in zip(given, results, strict=True):
        row = _identity(scene.sample, cell, anchors)
        if isinstance(result, _FATAL):
            raise result
        if isinstance(result, Exception):
            rows[cell] = _failed(row, result)
        else:
            # Of a batch the first one to be had took the time of all; each says its share.
            batched = hasattr(calibrator, "all_conditions")
            took = sum(result.timings_ms.values()) if batched else (time.perf_counter() - start) * 1e3
            rows[cell] = row | _answered(result, anchors, oracle) | scene.scorer(result.depth_m, result.sigma_m)
            rows[cell]["time_ms"] = took
        start = time.perf_counter()
    return rows


def _identity(sample: Sample, cell: Cell, drawn: Drawn | None = None) -> Row:
    row = {**cell.condition.columns, "method": cell.method, "image": sample.id, "scene": sample.scene}
    row["foundation"] = _foundation_name(cell.method)
    if drawn is not None:
        row["anchors_hash"] = drawn.hash
        row["num_anchors_given"] = len(drawn.anchors)
        row["num_wrong"] = int(np.count_nonzero(drawn.wrong))
    return row


def _answered(result: MetricDepth, drawn: Drawn, oracle: bool) -> Row:
    kept = result.anchors.keep
    gate = gate_metrics(verdicts(kept, drawn.wrong) if oracle else kept, drawn.wrong)
    return {
        "status": result.status,
        "num_rejected": gate.rejected,
        "gate_precision": gate.precision,
        "gate_recall": gate.recall,
        "gate_f1": gate.f1,
    }


def _failed(row: Row, error: Exception) -> Row:
    return row | {"status": "failed", "failure": f"{type(error).__name__}: {first_line(error)}"}


def _attempt(draws: Draws, condition: Condition) -> Drawn | ContractError:
    try:
        return draws(condition)
    except ContractError as error:
        return error


class _Relatives:
    """Relative depth of one image: each foundation asked once, each fault and each conversion made once."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._fields: dict[tuple[str, str, str | None], RelativeDepth | None] = {}

    def __call__(self, method: str) -> RelativeDepth | None:
        calibrator, name, fault = _calibrator(method), _foundation_name(method), parse_method(method).fault
        if (name, fault, None) not in self._fields:
            if (name, "", None) not in self._fields:
                self._fields[name, "", None], _ = predict(calibrator.foundation, self._sample.image, default_store())
            if fault:
                self._fields[name, fault, None] = self._spoilt(calibrator.foundation, name, fault)
        field = self._fields[name, fault, None]
        if field is None or calibrator.space is None:
            return field
        if (name, fault, calibrator.space) not in self._fields:
            self._fields[name, fault, calibrator.space] = in_space(field, calibrator.space)
        return self._fields[name, fault, calibrator.space]

    def _spoilt(self, foundation: Foundation, name: str, fault: str) -> RelativeDepth:
        """The field of a foundation with a fault; the other image of a fault is the next one of the set."""
        field, other = self._fields[name, "", None], None
        if field is not None:
            other, _ = predict(foundation, self._sample.next.image, default_store())
        if field is None or other is None:
            raise ContractError(f"bench: fault {fault} with foundation {name}, which gives no field; one is needed")
        rng = generator(self._sample.dataset.seed_name, self._sample.id, 0, FAULT, fault)
        filled, other = (RelativeDepth(fill_invalid(one)[0], one.space) for one in (field, other))
        return FAULTS[fault](filled, other, rng)


def _first_prediction(scene: _Scene, anchors: Anchors) -> FloatArray:
    result: MetricDepth = _calibrator(_FIRST_METHOD)(scene.sample.image, anchors, scene.relative(_FIRST_METHOD))
    return result.sigma_m


@lru_cache(maxsize=256)
def _calibrator(method: str, max_range_m: float | None = None) -> Any:
    return parse_method(method).calibrator(max_range_m)


@lru_cache(maxsize=256)
def _foundation_name(method: str) -> str:
    spec = parse_method(method)
    return str(spec.stages.get("foundation", registry.load("method", spec.name).foundation))
