"""Leaving out in closed form against leaving out by hand; and who is in a crowd."""

import numpy as np
import pytest

from mrac.conventions import FloatArray
from mrac.gate.consensus.leave_one_out import covariance, crowds, without_crowd


def places(num: int = 40, seed: int = 0) -> FloatArray:
    """Readings spread over an image of 4 : 3, in length scales."""
    return np.random.default_rng(seed).uniform(0, (4 / 3 / 1.6, 1 / 1.6), (num, 2))


def with_crowd() -> FloatArray:
    spread = places()
    spread[:10] = [0.4, 0.3] + 0.02 * np.random.default_rng(1).normal(size=(10, 2))
    return spread


def test_even_readings_are_no_crowd() -> None:
    counts = [len(crowds(places(seed=seed))) for seed in range(20)]
    assert np.mean(counts) < 2, "of 40"
    assert crowds(places(num=3)) == []


def test_a_crowd_is_seen() -> None:
    found = dict(crowds(with_crowd()))
    assert set(range(10)) <= set(found)
    assert all(i in members for i, members in found.items())
    assert {0, 1, 2, 3, 4, 5, 6, 7, 8, 9} <= set(found[0].tolist())


@pytest.mark.parametrize("crowded", [False, True])
def test_closed_form_is_conditioning_on_the_rest(crowded: bool) -> None:
    rng = np.random.default_rng(2)
    spread = with_crowd()
    left_out = crowds(spread) if crowded else []
    total = covariance(spread) + np.diag(rng.uniform(0.05, 0.3, len(spread)))
    error = rng.normal(size=len(spread))
    residual, var = without_crowd(total[None].copy(), error[None], left_out)
    members = dict(left_out)
    for i in range(len(spread)):
        rest = np.setdiff1d(np.arange(len(spread)), members.get(i, [i]))
        gain = np.linalg.solve(total[np.ix_(rest, rest)], total[rest, i])
        np.testing.assert_allclose(residual[0, i], error[i] - gain @ error[rest], atol=1e-9)
        np.testing.assert_allclose(var[0, i], total[i, i] - gain @ total[rest, i], atol=1e-9)
