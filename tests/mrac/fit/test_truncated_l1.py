from collections.abc import Callable

import numpy as np
import pytest

from mrac.fit.truncated_l1 import TruncatedL1
from mrac.space import SPACES, Space, to_space
from mrac.types import Samples


@pytest.mark.parametrize("space", SPACES)
def test_holds_with_four_of_ten_wrong_in_every_space(space: Space, make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(0)
    z_m = rng.uniform(1.0, 8.0, 50)
    x = (to_space(z_m, space) - 0.1) / 2.0
    read = z_m.copy()
    read[:20] *= rng.uniform(0.2, 0.6, 20)
    fit = TruncatedL1()(make_samples(x, read, space))
    assert (fit.scale, fit.shift) == pytest.approx((2.0, 0.1), abs=1e-6)
    assert not fit.used[:20].any()
    assert fit.used[20:].all()


def test_an_impossible_slope_is_not_taken_where_another_is_possible(make_samples: Callable[..., Samples]) -> None:
    x = np.linspace(0, 1, 20)
    z = 3.0 - x
    z[:2] = 1.0, 1.5
    samples = make_samples(x, z)
    assert TruncatedL1()(samples).scale > 0
    unlike = Samples(samples.uv_px, samples.z_m, samples.x, "depth", False, samples.weight)
    assert TruncatedL1()(unlike).scale == pytest.approx(-1), "x of another space may fall"


def test_the_limit_is_relative(make_samples: Callable[..., Samples]) -> None:
    x = np.linspace(1, 10, 19)
    z = x.copy()
    z[-1] *= 1.15
    assert TruncatedL1(limit=0.2)(make_samples(x, z)).used[-1]
    assert not TruncatedL1(limit=0.1)(make_samples(x, z)).used[-1]
