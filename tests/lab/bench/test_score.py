from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mrac.conventions import ImageArray
from mrac.errors import MissingExtra
from mrac.foundation.embedded import Embedded
from mrac.lab.bench import score
from mrac.lab.bench.protocol import Cell, Condition, Protocol
from mrac.lab.bench.score import TruthScorer, score_image
from mrac.lab.bench.store import COLUMNS
from mrac.lab.bench.work import sets_in
from mrac.lab.data import Sample
from mrac.metrics import coverage, score_depth
from mrac.types import RelativeDepth
from tests.lab.bench.conftest import METHODS

Make = Callable[..., Protocol]


@pytest.fixture
def sample(pack: Path) -> Sample:
    return sets_in(pack)["room"][0]


def test_metrics_are_those_of_the_reference(sample: Sample) -> None:
    rng = np.random.default_rng(0)
    shape = sample.truth_m.shape
    predicted_m = (np.nan_to_num(sample.truth_m, nan=1.0) * rng.lognormal(0.0, 0.3, shape)).astype(np.float32)
    predicted_m[5, 5:9] = np.nan, np.inf, -np.inf, 1e4
    sigma_m = rng.uniform(0.1, 2.0, shape).astype(np.float32)
    row = TruthScorer(sample)(predicted_m, sigma_m)
    rules = sample.rules
    wanted = score_depth(predicted_m, sample.truth_m, sample.scored, rules.min_depth_m, rules.max_depth_m)
    for name, value in wanted.metrics.to_dict().items():
        assert row[name] == pytest.approx(value, rel=1e-6), name
    assert row["clipped_share"] == wanted.clipped == 4 / wanted.num_pixels
    assert row["num_pixels"] == wanted.num_pixels
    levels = coverage(predicted_m, sigma_m, sample.truth_m, sample.scored, (0.6827, 0.9))
    assert [row["coverage_68"], row["coverage_90"]] == pytest.approx(list(levels.values()), abs=2e-3)


def test_rows_come_in_the_order_of_the_cells_and_all_methods_see_the_same_anchors(
    sample: Sample, make_protocol: Make
) -> None:
    protocol = make_protocol(methods=list(METHODS), families=["near", "dropout"], fractions=[0.0, 0.2])
    cells = protocol.cells()
    rows = score_image(sample, protocol, cells)
    assert [(r["family"], r["fraction"], r["method"]) for r in rows] == [
        (c.condition.family, c.condition.fraction, c.method) for c in cells
    ]
    assert all(row.keys() <= COLUMNS.keys() for row in rows)
    by_condition: dict[str, set[str]] = {}
    for row in rows:
        by_condition.setdefault(row["family"], set()).add(row["anchors_hash"])
        assert row["status"] != "failed"
        assert (row["num_anchors_given"], row["num_wrong"]) == (50, 0 if row["family"] == "none" else 10)
    assert [len(hashes) for hashes in by_condition.values()] == [1, 1, 1]


def test_the_time_of_a_row_is_in_milliseconds(
    sample: Sample, make_protocol: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(0.0, 0.25)
    monkeypatch.setattr(score, "time", SimpleNamespace(perf_counter=lambda: next(seconds)))
    protocol = make_protocol(methods=["nearest"], families=["near"], fractions=[0.0, 0.2])
    assert [row["time_ms"] for row in score_image(sample, protocol, protocol.cells())] == [250.0, 250.0]


def test_rows_do_not_depend_on_which_cells_are_asked_for(sample: Sample, make_protocol: Make) -> None:
    protocol = make_protocol(methods=list(METHODS), families=["near"], fractions=[0.0, 0.2])
    cells = protocol.cells()
    together = score_image(sample, protocol, cells)
    alone = [score_image(sample, protocol, [cell])[0] for cell in reversed(cells)][::-1]
    for one, other in zip(together, alone, strict=True):
        one.pop("time_ms"), other.pop("time_ms")
        assert one == other


def test_the_foundation_is_asked_once(sample: Sample, make_protocol: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def predict(self: Embedded, image: ImageArray) -> RelativeDepth:
        asked.append(self)
        return RelativeDepth(np.log(1.0 + np.arange(image[..., 0].size).reshape(image.shape[:2])), "log_depth")

    monkeypatch.setattr(Embedded, "__call__", predict)
    protocol = make_protocol(methods=["cfa_ols", "cfa_huber", "default"], families=["near"], fractions=[0.0, 0.2])
    rows = score_image(sample, protocol, protocol.cells())
    assert len(asked) == 1
    assert {row["foundation"] for row in rows} == {"embedded"}


def test_the_gate_is_judged(sample: Sample, make_protocol: Make) -> None:
    protocol = make_protocol(
        methods=["default;foundation=none", "default;foundation=none;gate=none"], families=["dropout"], fractions=[0.2]
    )
    gated, trusting = score_image(sample, protocol, protocol.cells())
    assert trusting["num_rejected"] == 0
    assert trusting["gate_precision"] is None
    assert trusting["gate_recall"] == 0.0
    assert gated["abs_rel"] <= trusting["abs_rel"]


def test_a_failure_is_a_row(sample: Sample, make_protocol: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        space = None
        foundation = staticmethod(lambda image: None)

        def __call__(self, *_: object) -> None:
            raise ZeroDivisionError("by nothing\nat all")

    good = score._calibrator
    monkeypatch.setattr(score, "_calibrator", lambda method, *_: Broken() if method[:3] == "cfa" else good(method))
    protocol = make_protocol(methods=list(METHODS[:2]))
    failed, fine = score_image(sample, protocol, protocol.cells())
    assert (failed["status"], failed["failure"]) == ("failed", "ZeroDivisionError: by nothing")
    assert failed["anchors_hash"] == fine["anchors_hash"]
    assert "abs_rel" not in failed
    assert "failure" not in fine


def test_a_condition_that_cannot_be_had_is_a_row_and_the_others_go_on(sample: Sample, make_protocol: Make) -> None:
    natural = Condition(set_name="room", source="stereo", family="natural")
    cells = [Cell(natural, METHODS[0]), Cell(Condition(set_name="room"), METHODS[0])]
    failed, fine = score_image(sample, make_protocol(), cells)
    assert "has no readings 'aux'" in failed["failure"]
    assert fine["abs_rel"] > 0


def test_an_image_without_truth_is_a_row(sample: Sample, make_protocol: Make) -> None:
    sample.__dict__["scored"] = np.zeros_like(sample.scored)
    protocol = make_protocol(methods=list(METHODS))
    rows = score_image(sample, protocol, protocol.cells())
    assert [row["failure"] for row in rows] == ["ContractError: metrics: no valid pixel"] * 3


def test_what_is_not_installed_stops_the_run(
    sample: Sample, make_protocol: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: Embedded, image: ImageArray) -> RelativeDepth:
        raise MissingExtra("foundation", "torch")

    monkeypatch.setattr(Embedded, "__call__", missing)
    protocol = make_protocol(methods=["cfa_ols"])
    with pytest.raises(MissingExtra):
        score_image(sample, protocol, protocol.cells())


def test_a_first_prediction_places_the_anchors(
    sample: Sample, make_protocol: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: list[str] = []
    good = score._calibrator

    def calibrator(method: str, *_: object) -> object:
        first.append(method)
        return good("cfa_ols;foundation=none" if method == "raw_depth" else method)

    monkeypatch.setattr(score, "_calibrator", calibrator)
    protocol = make_protocol(placements=["uncertainty_active", "random"])
    placed, plain = score_image(sample, protocol, protocol.cells())
    assert "raw_depth" in first
    assert placed["anchors_hash"] != plain["anchors_hash"]


def test_a_fault_spoils_the_field_that_the_method_is_given(
    pack: Path, make_protocol: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "cache"))
    dataset = sets_in(pack)["room"]
    fields = {image.image.tobytes(): np.log(np.nan_to_num(image.truth_m, nan=3.0)) for image in dataset}
    monkeypatch.setattr(Embedded, "identity", None)
    monkeypatch.setattr(Embedded, "__call__", lambda _, image: RelativeDepth(fields[image.tobytes()], "log_depth"))
    given: list[RelativeDepth] = []

    def calibrate_all(calibrator: Any, image: ImageArray, relative: RelativeDepth, anchors: Any) -> list[Exception]:
        given.append(relative)
        return [ValueError("enough")]

    monkeypatch.setattr(score, "calibrate_all", calibrate_all)
    methods = ["cfa_ols;space=log_depth", "cfa_ols;space=log_depth;fault=upside_down", "cfa_ols;fault=other_image"]
    protocol = make_protocol(methods=methods)
    rows = score_image(dataset[2], protocol, protocol.cells())
    own, turned, other = (relative.values for relative in given)
    np.testing.assert_array_equal(turned, own[::-1])
    first = fields[dataset[0].image.tobytes()]  # behind the last image comes the first; in depth, as the method fits
    np.testing.assert_allclose(other, np.exp(first - np.median(first)), rtol=1e-5)
    assert [row["method"] for row in rows] == methods
    assert {row["foundation"] for row in rows} == {"embedded"}


def test_a_fault_of_no_field_is_a_failure(sample: Sample, make_protocol: Make) -> None:
    protocol = make_protocol(methods=["default;foundation=none;fault=blurred"])
    (row,) = score_image(sample, protocol, protocol.cells())
    assert "which gives no field" in row["failure"]


def test_vi_depth_discards_readings_at_the_range_of_the_set(sample: Sample, make_protocol: Make) -> None:
    """A sensor's sentinel is no reading for VI-Depth: its own code drops what is not below its largest depth."""
    wide = "vi_depth_ga;head=sml:global_alignment_only=true,max_depth_m=100"
    methods = ["vi_depth_ga", wide, "vi_depth_scaffold", "vi_depth_scaffold;gate=none"]
    protocol = make_protocol(methods=methods, families=["dropout"], fractions=[0.0, 0.4])
    rows = score_image(sample, protocol, protocol.cells())
    error = {(row["fraction"], row["method"]): row["abs_rel"] for row in rows}
    for fair, unfair in (methods[:2], methods[2:]):
        assert error[0.4, fair] < 1.5 * error[0.0, fair]
        assert error[0.4, unfair] > 2.0 * error[0.4, fair]
    rejected = {row["method"]: row["num_rejected"] for row in rows if row["fraction"] == 0.4}
    assert rejected["vi_depth_scaffold"] == 20
