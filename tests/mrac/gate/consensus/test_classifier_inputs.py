"""What is told of readings does not depend on their order, and tells a stray from one of a group."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gate.consensus import Consensus
from mrac.gate.consensus.classifier_inputs import told_of
from mrac.space import SPACES
from mrac.types import Samples
from tests.mrac.gate.test_consensus import scene


def in_order(samples: Samples, order: NDArray[np.intp]) -> Samples:
    assert samples.x is not None
    x, weight = samples.x[order], samples.weight[order]
    return Samples(samples.uv_px[order], samples.z_m[order], x, samples.space, samples.native, weight)


def told(samples: Samples) -> dict[str, FloatArray]:
    (part,) = Consensus().parts(samples, [np.arange(len(samples))])
    return told_of(*part)


@pytest.mark.parametrize("num", [3, 4, 5, 6, 50])
def test_any_number_of_readings_gives_the_same_numbers_of_each(num: int) -> None:
    samples, _ = scene(num=num)
    found = told(samples)
    assert all(values.shape == (num,) and np.isfinite(values).all() for values in found.values())
    assert list(found) == list(told(scene(num=7)[0]))


def test_extreme_readings_give_finite_numbers() -> None:
    samples, _ = scene(num=20)
    z_m = samples.z_m * np.where(np.arange(20) % 2, 1e-3, 1e4)
    found = told(Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight))
    assert all(np.isfinite(values).all() and np.abs(values).max() < 100.0 for values in found.values())


def test_the_order_does_not_matter() -> None:
    samples, rng = scene(num=40)
    z_m = samples.z_m * np.where(np.arange(40) < 5, 0.4, 1.0)
    bad = Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight)
    order = rng.permutation(40)
    again = told(in_order(bad, order))
    for name, values in told(bad).items():
        assert np.abs(again[name] - values[order]).max() < 1e-6, name


def test_one_of_a_group_has_neighbours_that_agree_and_a_stray_has_none() -> None:
    samples, _ = scene(num=60)
    left = np.argsort(samples.uv_px[:, 0] + samples.uv_px[:, 1])[:8]
    stray = int(np.argmax(samples.uv_px[:, 0] - samples.uv_px[:, 1]))
    z_m = samples.z_m.copy()
    z_m[left] *= 0.4
    z_m[stray] *= 0.4
    found = told(Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight))
    assert np.median(found["near_agree"][left]) > 0.3
    assert found["near_agree"][stray] < 0.05


def test_what_lies_beside_is_told_in_log_depth_of_every_space() -> None:
    for space in SPACES:
        samples, _ = scene(space)
        assert samples.x is not None
        spread = 0.2 * np.ptp(samples.x)
        beside = np.stack([samples.x - spread, samples.x + spread], axis=1)
        seen = Samples(samples.uv_px, samples.z_m, samples.x, samples.space, True, samples.weight, beside=beside)
        (part,) = Consensus().parts(seen, [np.arange(len(seen))])
        assert (part.beside[:, 0] <= 0.0).all()
        assert (part.beside[:, 1] >= 0.0).all()
        assert np.ptp(part.beside) > 0.1
