"""The gate of a sensor's range: strict on both sides, the limits the user's or the sensor's."""

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.gate.range import RangeGate
from mrac.types import Samples


def samples(z_m: list[float]) -> Samples:
    K = len(z_m)
    return Samples(
        uv_px=np.stack([np.arange(K), np.zeros(K)], axis=1),
        z_m=np.array(z_m),
        x=None,
        space="inverse_depth",
        native=False,
        weight=np.ones(K),
    )


def test_a_reading_at_the_limit_is_discarded() -> None:
    judged = RangeGate(max_depth_m=10.0)(samples([0.1, 0.11, 9.99, 10.0, 10.01, 80.0]))
    assert judged.keep.tolist() == [False, True, True, False, False, False]
    assert judged.reason.tolist()[2:4] == ["unjudged", "out_of_range"]
    assert judged.weight.tolist() == [0, 1, 1, 0, 0, 0]
    assert judged.score[1:3].tolist() == [0.0, 0.0]
    assert (judged.score[[0, 3, 4, 5]] > 100.0).all()


def test_the_comparison_is_in_single_precision() -> None:
    """As in VI-Depth: a limit of 0.2 is the nearest float32, and so is a reading of 0.2."""
    assert not RangeGate(min_depth_m=0.2)(samples([0.2, 1.0])).keep[0]


def test_the_sensors_range_is_taken_unless_there_is_one() -> None:
    assert RangeGate().for_sensor(10.0) == RangeGate(max_depth_m=10.0)
    assert RangeGate(max_depth_m=5.0).for_sensor(10.0) == RangeGate(max_depth_m=5.0)
    assert RangeGate()(samples([50.0, 99.0, 100.0])).keep.tolist() == [True, True, False]


def test_nothing_in_range_keeps_all_and_says_so() -> None:
    judged = RangeGate(max_depth_m=2.0)(samples([3.0, 4.0]))
    assert judged.keep.all()
    assert judged.status == "all_anchors_rejected"


def test_limits_that_leave_nothing_are_named() -> None:
    with pytest.raises(ContractError, match="the first must be the smaller one"):
        RangeGate(min_depth_m=2.0, max_depth_m=1.0)
    with pytest.raises(ContractError, match="the first must be the smaller one"):
        RangeGate(min_depth_m=2.0, max_depth_m=2.0)
