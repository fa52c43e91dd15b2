from collections.abc import Callable

import numpy as np

from mrac.gate.msac import MsacGate
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.types import Samples


def test_holds_beyond_the_breakdown_point_of_the_paper_s_gate(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(50))[::-1].copy()
    z = (5 * x + 2) * (1 + 0.02 * rng.normal(size=50))
    z[:22] = 1.0  # the farthest ones all read near: their pairs slope the other way
    samples = make_samples(x, z)
    assert not MsacGate()(samples).keep[:22].any()
    assert MsacGate()(samples).keep[22:].all()
    assert TheilSenMad()(samples).keep[:22].any()


def test_is_fooled_by_correlated_dropouts(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(50)
    z = (20 * x + 5) * np.exp(0.25 * rng.normal(size=50))
    z[:20] = 80.0
    result = MsacGate()(make_samples(x, z))
    assert result.keep[:20].all()
    assert result.keep[20:].mean() < 0.2


def test_scores_are_relative_errors_in_half_thresholds(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(1.0, 4.0, 30)
    z = (2 * x + 1) * rng.uniform(0.93, 1.07, 30)
    z[:4] *= 1.6
    made = MsacGate(threshold=0.1)(make_samples(x, z))
    agree = MsacGate(threshold=0.1).inlier_set(x, z, z)
    line = np.polyfit(x[agree], z[agree], 1, w=1.0 / z[agree])
    error = np.abs(z - np.polyval(line, x)) / z
    np.testing.assert_allclose(made.score, error / 0.05, rtol=1e-6)
    np.testing.assert_array_equal(made.keep, error <= 0.1)
    assert not made.keep[:4].any()
