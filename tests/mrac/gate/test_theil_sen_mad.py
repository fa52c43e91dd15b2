import numpy as np
import pytest
from scipy.stats import median_abs_deviation, theilslopes

from mrac import ContractError, theil_sen_gate


def test_equals_the_paper_s_equations() -> None:
    """Eqs. (4)–(6), written out with scipy and numpy, on continuous data."""
    rng = np.random.default_rng(0)
    for K in (2, 3, 4, 5, 50, 51, 200, 1000):
        x, z = rng.random(K), rng.random(K) * 5
        gate = theil_sen_gate(x, z)  # κ = 2, the paper's
        slope = theilslopes(z, x).slope
        intercept = np.median(z - slope * x)
        residual = z - (slope * x + intercept)
        sigma = 1.4826 * median_abs_deviation(residual)
        assert gate.slope == pytest.approx(slope, rel=1e-12)
        assert gate.intercept == pytest.approx(intercept, rel=1e-12)
        assert gate.sigma == pytest.approx(sigma, rel=1e-9, abs=1e-14)
        np.testing.assert_array_equal(gate.keep, np.abs(residual) <= 2.0 * sigma + 1e-12)


def test_exactly_affine_anchors_survive_the_last_bit() -> None:
    x = np.random.default_rng(1).random(101)
    assert theil_sen_gate(x, 0.1 * x + 0.3).keep.all()


def test_breaks_down_only_past_29_percent() -> None:
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(200))
    z = 2 * x + 1 + 0.01 * rng.normal(size=200)
    for fraction, holds in ((0.25, True), (0.45, False)):
        wrong = z.copy()
        wrong[-int(fraction * 200) :] = 40.0  # the farthest points saturate: the worst place to be wrong
        assert (abs(theil_sen_gate(x, wrong).slope - 2) < 1) == holds


def test_equal_x_gives_the_median() -> None:
    gate = theil_sen_gate([1.0, 1.0, 1.0], [1.0, 2.0, 9.0])
    assert (gate.slope, gate.intercept) == (0.0, 2.0)


def test_one_anchor() -> None:
    gate = theil_sen_gate([1.0], [4.0])
    assert (gate.slope, gate.intercept, gate.sigma, gate.keep.tolist()) == (0.0, 4.0, 0.0, [True])


@pytest.mark.parametrize(
    ("x", "z", "kappa"),
    [
        ([1.0], [1.0, 2.0], 2.0),
        ([], [], 2.0),
        ([[1.0]], [[1.0]], 2.0),
        ([1.0, np.nan], [1.0, 2.0], 2.0),
        ([1.0, 2.0], [1.0, np.inf], 2.0),
        ([1.0, 2.0], [1.0, 2.0], -1.0),
        ([1.0, 2.0], [1.0, 2.0], np.nan),
    ],
)
def test_mistakes_are_refused(x: list[float], z: list[float], kappa: float) -> None:
    with pytest.raises(ContractError, match="theil_sen_gate"):
        theil_sen_gate(x, z, kappa)


def test_the_width_is_two_and_may_be_nothing() -> None:
    x = np.arange(11.0)
    z = np.array([0.0, 1.1, 1.9, 3.1, 4.5, 5.1, 5.9, 7.1, 7.9, 9.1, 10.28])  # one at 2.7 deviations, others at 1.3
    by_default, stated = theil_sen_gate(x, z), theil_sen_gate(x, z, 2.0)
    np.testing.assert_array_equal(by_default.keep, stated.keep)
    for other in (1.0, 3.0):
        assert (by_default.keep != theil_sen_gate(x, z, other).keep).any()
    assert theil_sen_gate(x, z, 0.0).keep.sum() < 11
    assert theil_sen_gate(x, z, 0).keep.sum() == theil_sen_gate(x, z, 0.0).keep.sum()


@pytest.mark.parametrize("kind", [list, np.float32, "strided", "fortran", "read-only"])
def test_any_layout_of_numbers_gives_the_same(kind: object) -> None:
    x, z = np.arange(8.0), np.array([0.0, 1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 30.0])
    plain = theil_sen_gate(x, z)
    made: tuple[object, object] = (x.tolist(), z.tolist())
    if kind is np.float32:
        made = x.astype(np.float32), z.astype(np.float32)
    elif kind == "strided":
        made = np.repeat(x, 2)[::2], np.repeat(z, 2)[::2]
    elif kind == "fortran":
        made = np.stack([x, z], axis=1)[:, 0], np.stack([x, z], axis=1)[:, 1]
    elif kind == "read-only":
        made = x.copy(), z.copy()
        for each in made:
            each.flags.writeable = False
    other = theil_sen_gate(*made)  # type: ignore[arg-type]
    assert (plain.slope, plain.intercept, plain.sigma) == (other.slope, other.intercept, other.sigma)
    np.testing.assert_array_equal(plain.keep, other.keep)
    np.testing.assert_array_equal(plain.residual, other.residual)
