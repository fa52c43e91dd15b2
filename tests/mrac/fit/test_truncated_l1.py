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


def test_covariance_is_the_gaussian_one_over_its_efficiency(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(1.0, 4.0, 40)
    z = (2 * x + 1) * rng.uniform(0.9, 1.1, 40)
    z[:5] *= 3.0
    fit = TruncatedL1()(make_samples(x, z))
    used = np.abs(z - fit(x)) <= 0.2 * z
    np.testing.assert_array_equal(fit.used, used)
    assert used.sum() == 35
    sigma2 = ((z - fit(x))[used] ** 2).sum() / 33
    assert fit.sigma == pytest.approx(np.sqrt(sigma2))
    design = np.stack([x[used], np.ones(35)], axis=1)
    np.testing.assert_allclose(fit.covariance, sigma2 * np.pi / 2 * np.linalg.inv(design.T @ design))


def test_weights_count(make_samples: Callable[..., Samples]) -> None:
    samples = make_samples([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.4, 6.0])
    light = samples.keep(np.ones(5, bool), np.array([1.0, 1.0, 1.0, 0.1, 0.1]))
    assert TruncatedL1(limit=10.0)(light).scale == pytest.approx(1.0)


def test_where_fewer_than_three_agree_all_are_used(make_samples: Callable[..., Samples]) -> None:
    fit = TruncatedL1(limit=1e-6)(make_samples([1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 2.0, 30.0]))
    assert fit.used.all()
    three = TruncatedL1(limit=1e-6)(make_samples([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 30.0]))
    assert three.used.tolist() == [True, True, True, False]
    assert three.sigma == pytest.approx(0.0, abs=1e-12)


def test_the_limit_itself_is_near_enough(make_samples: Callable[..., Samples]) -> None:
    samples = make_samples([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 8.0])  # the last is off by half of what it reads
    fit = TruncatedL1(limit=0.5)(samples)
    assert (fit.scale, fit.shift) == pytest.approx((1.0, 1.0), rel=1e-15)
    assert fit.used.all()
