"""The estimators give what the gates give, alone and without scikit-learn."""

import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mrac
from mrac import ContractError, GncGate, MsacGate, RansacGate, SiegelGate, TheilSenGate, registry, theil_sen_gate
from mrac.conventions import BoolArray, FloatArray
from mrac.estimators._line import RobustLine
from mrac.types import Samples

ALL = [TheilSenGate, SiegelGate, RansacGate, MsacGate, GncGate]
# Each estimator and the gate, in depth, whose verdict it is.
SAME = [
    (TheilSenGate(kappa=2.5), "theil_sen_mad:kappa=2.5"),
    (SiegelGate(kappa=1.5), "siegel_mad:kappa=1.5"),
    (RansacGate(threshold=0.1, trials=50, seed=3), "ransac:threshold=0.1,trials=50,seed=3"),
    (MsacGate(threshold=0.1, trials=50, seed=3, relative=True), "msac:threshold=0.1,trials=50,seed=3"),
    (GncGate(threshold=0.1, growth=1.3, relative=True), "gnc:threshold=0.1,growth=1.3"),
]


def readings(num: int = 60, seed: int = 0) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Points of z = 3 x + 1 with noise, a fifth of them at 40 % of it, and which."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 2.0, num)
    wrong = np.arange(num) % 5 == 0
    return x, (3.0 * x + 1.0 + 0.01 * rng.normal(size=num)) * np.where(wrong, 0.4, 1.0), wrong


@pytest.mark.parametrize("kind", ALL)
def test_the_line_is_found_among_outliers(kind: type[RobustLine]) -> None:
    x, z, wrong = readings()
    line = kind().fit(x, z)
    assert line.coef_.shape == (1,)
    assert line.coef_[0] == pytest.approx(3.0, abs=0.05)
    assert line.intercept_ == pytest.approx(1.0, abs=0.06)
    assert not line.inlier_mask_[wrong].any()
    assert line.inlier_mask_[~wrong].mean() > 0.9
    np.testing.assert_allclose(line.predict([0.0, 1.0]), [1.0, 4.0], atol=0.08)
    assert line.score(x[~wrong], z[~wrong]) > 0.99
    assert line.score(x, z) < 0.5, "outliers count in it"
    column = kind().fit(x[:, None], z)
    np.testing.assert_array_equal(column.inlier_mask_, line.inlier_mask_)
    np.testing.assert_array_equal(column.predict(x[:, None]), line.predict(x))


@pytest.mark.parametrize(("line", "gate"), SAME, ids=str)
def test_the_verdict_is_the_gate_s(line: RobustLine, gate: str, make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(5)
    for num in (3, 10, 80):
        x, z, _ = readings(num, num)
        z = np.abs(z + rng.normal(scale=0.3, size=num)) + 0.1
        judged = registry.create("gate", gate)(make_samples(x, z, "depth"))
        np.testing.assert_array_equal(line.fit(x, z).inlier_mask_, judged.keep)


@settings(max_examples=40, deadline=None)
@given(arrays(float, st.tuples(st.integers(1, 12), st.just(2)), elements=st.integers(-800, 800).map(lambda n: n / 8)))
def test_theil_sen_is_the_function_bit_for_bit_and_the_others_are_finite(points: FloatArray) -> None:
    x, z = points.T.copy()
    one, other = theil_sen_gate(x, z, 2.0), TheilSenGate(kappa=2.0).fit(x, z)
    assert (one.slope, one.intercept, one.sigma) == (other.coef_[0], other.intercept_, other.sigma_)
    np.testing.assert_array_equal(one.keep, other.inlier_mask_)
    for kind in ALL[1:]:
        line = kind().fit(x, z)
        assert np.isfinite([*line.coef_, line.intercept_]).all()
        assert line.inlier_mask_.shape == x.shape
        assert line.inlier_mask_.dtype == np.bool_


@pytest.mark.parametrize("kind", ALL)
def test_without_a_slope_it_is_the_median(kind: type[RobustLine]) -> None:
    line = kind().fit([2.0, 2.0, 2.0], [1.0, 5.0, 2.0])
    assert (line.coef_[0], line.intercept_) == (0.0, 2.0)
    assert kind().fit([2.0], [7.0]).predict([100.0]) == [7.0]


@pytest.mark.parametrize("kind", ALL)
def test_parameters(kind: type[RobustLine]) -> None:
    line = kind()
    params = line.get_params()
    assert repr(line).startswith(f"{kind.__name__}({next(iter(params))}=")
    assert kind(**params).get_params() == params
    first = next(iter(params))
    assert line.set_params(**{first: 1.25}).get_params()[first] == 1.25
    with pytest.raises(ContractError, match=f"no parameter 'sigma'; known: {', '.join(params)}"):
        line.set_params(sigma=3)
    x, z, _ = readings()
    again = pickle.loads(pickle.dumps(line.fit(x, z)))
    np.testing.assert_array_equal(again.predict(x), line.predict(x))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (TheilSenGate(kappa=-1), "kappa"),
        (SiegelGate(kappa=float("nan")), "kappa"),
        (RansacGate(threshold=0), "threshold: 0 arrived"),
        (RansacGate(trials=0), "trials"),
        (MsacGate(seed=-1), "seed"),
        (GncGate(growth=1), "growth"),
        (GncGate(relative=True), "y > 0 is needed"),
    ],
    ids=repr,
)
def test_an_impossible_parameter_is_named_by_fit(line: RobustLine, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        line.fit([1.0, 2.0, 3.0], [-1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("x", "z", "says"),
    [
        ([1.0, 2.0], [1.0], r"y of shape \(1,\) arrived; \(2,\) is needed"),
        ([1.0, np.nan], [1.0, 2.0], "X: contains NaN or infinity"),
        ([1.0, 2.0], [1.0, np.inf], "y: contains NaN or infinity"),
        ([[1.0, 2.0]], [1.0], "expecting 1 features"),
        ([[[1.0]]], [1.0], r"\(n,\) or \(n, 1\)"),
        ([], [], "0 sample"),
        ([1.0], None, "call fit"),
        (["a", "b"], [1.0, 2.0], "numbers are needed"),
        ([1e308, -1e308, 0.0], [-1e308, 1e308, 0.0], "finite"),
    ],
)
def test_impossible_input_is_named(x: object, z: object, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        TheilSenGate().fit(x, z).predict(np.array([np.nan]))  # type: ignore[arg-type]


def test_a_column_of_readings_is_taken_with_a_warning() -> None:
    x, z, _ = readings()
    with pytest.warns(UserWarning, match=r"y\.ravel"):
        line = TheilSenGate().fit(x, z[:, None])
    assert line.coef_ == TheilSenGate().fit(x, z).coef_


def test_scikit_learn_is_not_imported() -> None:
    code = (
        "import sys; from mrac import TheilSenGate\n"
        "try: TheilSenGate().predict([1.0])\n"
        "except (ValueError, AttributeError) as error: print(type(error).__module__, 'call fit' in str(error))\n"
        "TheilSenGate(kappa=2).fit([1, 2, 3], [1, 2, 3]).score([1, 2], [1, 2]); print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mrac.estimators._line", "True", "False"]


def test_the_package_offers_them() -> None:
    assert {kind.__name__ for kind in ALL} <= set(mrac.__all__)
