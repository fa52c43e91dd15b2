"""VI-Depth by torch says what the head says."""

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.errors import ContractError
from mrac.lab.bench.device import on_device
from mrac.lab.bench.device import scale_map as scale_map_module
from tests.lab.bench.device.conditions import TORCH_ON_CPU, assert_same, both_ways, drawn, made


@pytest.mark.parametrize("shape", [(61, 83), (401, 300)])
def test_depth_is_the_calibrator_s_and_so_is_what_is_said_where_the_learner_is_not_asked(
    shape: tuple[int, int],
) -> None:
    image, relative = made(shape)
    line = np.stack([np.arange(5, 45, 4), np.arange(5, 45, 4)], axis=1)
    on_a_line = Anchors(line, np.exp(relative.values[line[:, 1], line[:, 0]]) * np.linspace(0.9, 1.1, 10))
    anchors = [drawn(relative, 50), on_a_line, drawn(relative, 2), drawn(relative, 40, 15)]
    results = both_ways(Calibrator("sml_retrained"), image, relative, anchors)
    for one, other in results:
        assert_same(one, other)
    assert [other.status for _, other in results] == ["ok", "collinear_anchors", "two_anchors", "ok"]
    for one, other in results[1:3]:
        np.testing.assert_array_equal(one.depth_m, other.depth_m)


def test_weights_that_are_not_numbers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    image, relative = made((61, 83))
    monkeypatch.setattr(scale_map_module, "run_in_equal_batches", lambda network, inputs: inputs[0][:, :1] * np.nan)
    (result,) = on_device(Calibrator("sml_retrained"), TORCH_ON_CPU).all_conditions(
        image, [drawn(relative, 30)], relative
    )
    assert isinstance(result, ContractError)
    assert "not finite" in str(result)
