from collections.abc import Callable

import numpy as np
import pytest

from mrac.gate.ransac import RansacGate
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.space import Space, from_space
from mrac.types import Samples


def test_is_fooled_by_correlated_dropouts_where_the_paper_s_gate_is_not(make_samples: Callable[..., Samples]) -> None:
    """The paper's point: one constant reported by a quarter of the anchors is a perfect consensus."""
    rng = np.random.default_rng(0)
    x = rng.random(50)
    z = 20 * x + 5 + 2.0 * rng.normal(size=50)
    z[:12] = 80.0
    samples = make_samples(x, np.maximum(z, 1.0))
    assert RansacGate()(samples).keep[:12].all()
    assert not TheilSenMad()(samples).keep[:12].any()


def test_another_seed_may_differ_but_the_same_seed_never(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(1)
    samples = make_samples(rng.random(300), rng.random(300) * 10 + 1)
    first = RansacGate(seed=1)(samples).keep
    np.testing.assert_array_equal(first, RansacGate(seed=1)(samples).keep)
    assert any((first != RansacGate(seed=s)(samples).keep).any() for s in range(2, 6))


@pytest.mark.parametrize(("space", "threshold"), [("depth", 0.2), ("inverse_depth", 0.05), ("log_depth", 0.1)])
def test_the_threshold_is_that_of_the_space(
    space: Space, threshold: float, make_samples: Callable[..., Samples]
) -> None:
    x = np.linspace(0.5, 1.0, 30)
    for off, kept in ((0.99 * threshold, True), (1.02 * threshold, False)):
        y = x.copy()
        y[15] += off
        samples = make_samples(x, from_space(y, space), space)
        made = RansacGate(trials=500)(samples)
        assert np.flatnonzero(~made.keep).tolist() == ([] if kept else [15])
        line = np.polyfit(x[made.keep], samples.y[made.keep], 1)
        np.testing.assert_allclose(
            made.score, np.abs(samples.y - np.polyval(line, x)) / (threshold / 2), rtol=1e-6, atol=1e-9
        )


def test_a_stated_threshold_is_taken(make_samples: Callable[..., Samples]) -> None:
    x = np.linspace(1.0, 2.0, 30)
    z = x + np.where(np.arange(30) == 7, 0.6, 0.0)
    assert RansacGate(threshold=1.0)(make_samples(x, z)).keep.all()
    assert not RansacGate()(make_samples(x, z)).keep[7]
