"""Partners by nearest stamp, against a search of all pairs."""

import numpy as np
import pytest

from mrac.recordings.synchronise import partners


@pytest.mark.parametrize("seed", range(5))
def test_each_image_has_the_nearest_message_within_the_slop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images, readings = rng.integers(0, 1000, 40), rng.permutation(rng.integers(0, 1000, 30))
    found = partners(images, [readings, np.empty(0, np.int64)], 20)
    for stamp, index in zip(images, found.index[:, 0], strict=True):
        away = np.abs(readings - stamp)
        if index < 0:
            assert away.min() > 20
        else:
            assert away[index] == away.min() <= 20
    assert (found.index[:, 1] == -1).all()
    assert found.num_unused == (30 - len(set(found.index[:, 0].tolist()) - {-1}), 0)
    np.testing.assert_array_equal(found.has_any, found.index[:, 0] >= 0)


def test_of_two_equally_near_the_earlier_and_one_may_serve_several() -> None:
    found = partners(np.array([10, 12, 14]), [np.array([18, 8, 12])], 5)
    assert found.index[:, 0].tolist() == [1, 2, 2]
    assert found.num_unused == (1,)


def test_the_slop_is_inclusive() -> None:
    assert partners(np.array([0]), [np.array([5])], 5).index.tolist() == [[0]]
    assert partners(np.array([0]), [np.array([6])], 5).index.tolist() == [[-1]]
