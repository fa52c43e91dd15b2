from collections.abc import Callable

import numpy as np

from mrac.gate.ransac import RansacGate
from mrac.gate.theil_sen_mad import TheilSenMad
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
