import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac.conventions import FloatArray
from mrac.fit._relations import Relation, RelationOptions, curves, relations
from mrac.space import POWERS, SPACES, Space

PRIOR = RelationOptions(slope_std=0.2, contrast=2.0, contrast_std=0.8, prior_unshifted=0.8, prior_undeclared=0.01)
CONTRASTS = st.floats(0.05, 8.0).flatmap(lambda c: st.sampled_from([c, -c]))


def curve(u: FloatArray, contrast: float, power: float) -> FloatArray:
    return np.asarray(curves(u[None], np.array([[contrast]]), np.array([power]))[0, 0])


@given(CONTRASTS, st.sampled_from([1.0, -1.0]))
def test_between_the_ends_a_power_of_depth_is_a_line(contrast: float, power: float) -> None:
    u = np.linspace(0.0, 1.0, 11)
    y = np.exp(power * curve(u, contrast, power))
    np.testing.assert_allclose(y, y[0] + (y[-1] - y[0]) * u, rtol=1e-9)
    assert (y > 0.0).all()


@given(CONTRASTS, st.sampled_from([1.0, 0.0, -1.0]))
def test_the_contrast_is_what_log_depth_gains_and_nothing_turns_back(contrast: float, power: float) -> None:
    u = np.linspace(-3.0, 4.0, 701)
    log_depth = curve(u, contrast, power)
    assert log_depth[400] - log_depth[300] == pytest.approx(contrast)  # u = 1 and u = 0
    steps = np.sign(contrast) * np.diff(log_depth)
    assert (steps > 0.0).all()
    for beyond in (steps[:299], steps[401:]):
        assert beyond.max() <= 5.0 * abs(contrast) * 0.01 * 1.001, "not steeper than that beyond the ends"


def test_log_depth_is_the_limit_of_small_powers() -> None:
    u, contrast = np.linspace(-1.0, 2.0, 31), 1.3
    np.testing.assert_allclose(curve(u, contrast, 1e-5), curve(u, contrast, 0.0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("low", [-1.0, 0.5])
def test_probabilities_add_up_and_the_declared_relation_leads(space: Space, native: bool, low: float) -> None:
    found = relations(space, native, low, 4.0, PRIOR)
    assert sum(r.probability for r in found) == pytest.approx(1.0)
    declared = sum(r.probability for r in found if r.declared)
    assert declared == pytest.approx(0.99, abs=0.003) if native else declared == 0.0
    assert any(r.of_log for r in found) == (native and space != "log_depth" and low > 0.0), (
        "no power of what is not > 0"
    )
    # Every direction of every space is there, whatever was declared.
    assert {(r.space, r.rising) for r in found} == {(s, rising) for s in SPACES for rising in (True, False)}


@pytest.mark.parametrize(("space", "rising"), [("depth", True), ("inverse_depth", False), ("log_depth", True)])
def test_without_a_shift_the_field_s_own_contrast_is_expected(space: Space, rising: bool) -> None:
    """Depth 1 m to 4 m, declared in each space: what a relation expects, before any reading, is the truth."""
    z = np.array([1.0, 2.0, 3.0, 4.0])
    x = np.log(z) if space == "log_depth" else z ** POWERS[space]
    low, high = x.min(), x.max()
    own = [r for r in relations(space, True, low, high, PRIOR) if r.own]
    assert own
    for relation in own:
        assert relation.rising == rising
        trend = curve(relation.u(x, low, high), float(relation.contrasts(np.array(0.0))), relation.power)
        np.testing.assert_allclose(np.exp(trend - trend[0]), z, rtol=1e-9)


def test_names_are_for_people() -> None:
    common = {"contrast": 1.0, "contrast_std": 1.0, "own": False, "probability": 0.5}
    falling = Relation(space="depth", rising=False, declared=False, **common)  # type: ignore[arg-type]
    power = Relation(space="depth", of_log=True, rising=True, declared=True, **common)  # type: ignore[arg-type]
    assert (falling.name, power.name) == ("falling line in depth", "power of x")


def table(found: list[Relation]) -> list[tuple[object, ...]]:
    return [(r.space, r.rising, r.of_log, r.own, r.declared, r.contrast_std) for r in found]


def test_the_candidates_of_a_field_of_depth() -> None:
    found = relations("depth", True, 0.5, 2.0, PRIOR)
    assert table(found) == [
        ("depth", True, False, False, True, 0.8),
        ("depth", True, False, True, True, 0.2),
        ("depth", True, True, True, True, 0.2),
        ("depth", False, False, False, False, 0.8),
        ("inverse_depth", True, False, False, False, 0.8),
        ("inverse_depth", False, False, False, False, 0.8),
        ("log_depth", True, False, False, False, 0.8),
        ("log_depth", False, False, False, False, 0.8),
    ]
    wanted = [0.99 * 0.2, 0.99 * 0.4, 0.99 * 0.4, *[0.01 / 5] * 5]
    assert [r.probability for r in found] == pytest.approx(wanted)
    assert [r.contrast for r in found] == pytest.approx([2.0, np.log(4), np.log(4), *[2.0] * 5])


def test_the_candidates_of_a_field_of_log_depth() -> None:
    found = relations("log_depth", True, 0.5, 2.0, PRIOR)
    assert table(found)[0] == ("log_depth", True, False, True, True, 0.2)
    assert [r.contrast for r in found] == [1.5, *[2.0] * 6]
    assert [r.probability for r in found] == pytest.approx([0.99, *[0.01 / 6] * 6])
    assert [r.declared for r in found[1:]] == [r.space == "log_depth" and r.rising for r in found[1:]]


def test_the_candidates_of_a_field_of_another_space() -> None:
    found = relations("depth", False, 0.5, 2.0, PRIOR)
    assert [r.probability for r in found] == pytest.approx([1 / 6] * 6)
    assert not any(r.declared or r.own for r in found)


@pytest.mark.parametrize(
    ("low", "high", "has_log"),
    [(1e-30, 1.0, False), (2e-30, 1.0, True), (2.0, 2.002, False), (2.0, 2.003, True), (-1.0, 1.0, False)],
)
def test_a_field_without_a_shift_is_above_zero_and_not_flat(low: float, high: float, has_log: bool) -> None:
    found = relations("inverse_depth", True, low, high, PRIOR)
    assert any(r.own for r in found) == has_log
    assert found[0].probability == pytest.approx(0.99 * 0.2 if has_log else 0.99)
    assert not found[0].rising


def test_beyond_the_ends_a_curve_goes_on_straight() -> None:
    """With its slope at the end, or five times the mean slope where that is less."""
    u = np.array([-2.0, 0.0, 1.0, 3.0])
    steep, flat = np.e - 1.0, 1.0 - np.exp(-8.0)
    np.testing.assert_allclose(curve(u, 1.0, 1.0), [-2.0 * steep, 0.0, 1.0, 1.0 + 2.0 * steep / np.e])
    np.testing.assert_allclose(curve(u, -1.0, -1.0), [2.0 * steep, 0.0, -1.0, -1.0 - 2.0 * steep / np.e])
    np.testing.assert_allclose(curve(u, 8.0, 1.0), [-2.0 * 40.0, 0.0, 8.0, 8.0 + 2.0 * flat])
    np.testing.assert_allclose(curve(u, -8.0, 1.0), [2.0 * flat, 0.0, -8.0, -8.0 - 2.0 * 40.0])


def test_the_bend_is_bounded() -> None:
    u = np.array([0.0, 0.5, 1.0])
    for contrast in (12.0, 50.0):
        np.testing.assert_allclose(curve(u, contrast, 1.0)[[0, 2]], [0.0, 12.0])
        np.testing.assert_allclose(curve(u, contrast, -1.0)[[0, 2]], [0.0, 12.0])
    np.testing.assert_allclose(curve(u, 0.0, 1.0), 1e-6 * u, rtol=1e-5)
    np.testing.assert_allclose(curve(u, 50.0, 0.0), 50.0 * u)


def test_contrasts_and_scaled_depth() -> None:
    common = {"space": "depth", "declared": True, "probability": 1.0, "contrast": 2.0, "contrast_std": 0.5}
    deviations = np.array([-1.0, 0.0, 2.0])
    for rising, sign in ((True, 1.0), (False, -1.0)):
        own = Relation(own=True, rising=rising, **common)  # type: ignore[arg-type]
        other = Relation(own=False, rising=rising, **common)  # type: ignore[arg-type]
        np.testing.assert_allclose(own.contrasts(deviations), sign * np.array([1.0, 2.0, 4.0]))
        np.testing.assert_allclose(other.contrasts(deviations), sign * 2.0 * np.exp(0.5 * deviations))
    np.testing.assert_allclose(own.u(np.array([1.0, 2.0, 5.0]), 1.0, 3.0), [0.0, 0.5, 2.0])
    power = Relation(own=True, rising=True, of_log=True, **common)  # type: ignore[arg-type]
    at = power.u(np.array([-1.0, 1e-9, 1e-3, 1.0, 100.0]), 1.0, 10.0)
    np.testing.assert_allclose(at, [-3.0, -3.0, -3.0, 0.0, 2.0])
    assert (power.power, own.power) == (0.0, 1.0)
