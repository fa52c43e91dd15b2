from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.errors import ContractError
from mrac.lab.bench.conditions import Drawn
from mrac.lab.bench.oracle import right_ones, verdicts
from mrac.lab.bench.protocol import Cell, Condition, Protocol
from mrac.lab.bench.score import score_image
from mrac.lab.bench.work import sets_in
from mrac.lab.data import Sample
from tests.lab.bench.device.conditions import TORCH_ON_CPU

ORACLE, TRUSTING = "default;foundation=none;gate=oracle", "default;foundation=none;gate=none"
WRONG = np.array([True, False, True, False])


@pytest.fixture
def sample(pack: Path) -> Sample:
    return sets_in(pack)["room"][0]


@pytest.mark.parametrize("sigma_m", [None, [0.1, 0.2, 0.3, 0.4]])
def test_only_the_right_ones_are_let_through(sigma_m: list[float] | None) -> None:
    drawn = Drawn(Anchors([[0, 0], [1, 0], [2, 0], [3, 0]], [9.0, 1.0, 9.0, 2.0], sigma_m), WRONG, "")
    seen = right_ones(drawn)
    np.testing.assert_array_equal(seen.z_m, [1.0, 2.0])
    np.testing.assert_array_equal(seen.uv_px, [[1, 0], [3, 0]])
    assert (None if seen.sigma_m is None else seen.sigma_m.tolist()) == (sigma_m and [0.2, 0.4])


def test_what_was_left_away_counts_as_rejected() -> None:
    assert verdicts(np.array([True, False]), WRONG).tolist() == [False, True, False, False]


def test_no_stage_can_be_one() -> None:
    with pytest.raises(ContractError, match="gate: there is no 'oracle'"):
        Calibrator(gate="oracle")


def test_its_verdicts_are_the_truth_and_its_depth_that_of_the_right_anchors(
    sample: Sample, make_protocol: Callable[..., Protocol]
) -> None:
    protocol = make_protocol(methods=[ORACLE, TRUSTING], families=["near"], fractions=[0.0, 0.2])
    clean, clean_too, told, trusting = score_image(sample, protocol, protocol.cells())
    assert (told["gate_precision"], told["gate_recall"], told["num_rejected"]) == (1.0, 1.0, 10)
    assert told["anchors_hash"] == trusting["anchors_hash"]
    assert (told["num_anchors_given"], told["num_wrong"]) == (50, 10)
    assert told["abs_rel"] < trusting["abs_rel"] / 2
    assert {**clean, "time_ms": 0, "method": ""} == {**clean_too, "time_ms": 0, "method": ""}


def test_a_real_sensor_s_wrong_readings_are_known_too(sample: Sample, make_protocol: Callable[..., Protocol]) -> None:
    condition = Condition(set_name="room", source="lidar", family="enriched", fraction=0.4)
    told, trusting = score_image(sample, make_protocol(), [Cell(condition, ORACLE), Cell(condition, TRUSTING)])
    assert (told["gate_precision"], told["gate_recall"], told["num_rejected"]) == (1.0, 1.0, 20)
    assert told["abs_rel"] < trusting["abs_rel"]


def test_where_all_are_wrong_nothing_is_known(sample: Sample, make_protocol: Callable[..., Protocol]) -> None:
    protocol = make_protocol(methods=[ORACLE], families=["dropout"], fractions=[1.0])
    (row,) = score_image(sample, protocol, protocol.cells())
    assert (row["status"], row["gate_recall"]) == ("no_anchors", 1.0)


def test_a_learned_head_on_a_device_sees_the_same(sample: Sample, make_protocol: Callable[..., Protocol]) -> None:
    protocol = make_protocol(methods=["vanilla;gate=oracle"], families=["dropout"], fractions=[0.0, 0.4])
    plain, there = (score_image(sample, protocol, protocol.cells(), device) for device in ("cpu", TORCH_ON_CPU))
    for one, other in zip(plain, there, strict=True):
        assert other["abs_rel"] == pytest.approx(one["abs_rel"], abs=2e-3)
        assert other["gate_recall"] == one["gate_recall"]
