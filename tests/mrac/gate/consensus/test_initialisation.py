"""Where the search starts from: votes, lines through pairs, what is carried on."""

import numpy as np
import pytest

from mrac.conventions import FloatArray
from mrac.gate.consensus.initialisation import Starts, _distinct, _most_votes, _pairs, _shifts, log_trends, search
from mrac.gate.consensus.model import MixtureModel, MixtureOptions, Outcome, State
from mrac.types import Samples


def samples_of(x: FloatArray | None, z_m: FloatArray, space: str = "depth", native: bool = True) -> Samples:
    K = z_m.size
    return Samples(np.zeros((K, 2)), z_m, x, space, native, np.ones(K))  # type: ignore[arg-type]


def test_the_most_voted_that_are_apart() -> None:
    guesses = np.array([[0.0], [0.1], [0.25], [0.26], [0.6], [1.0]])
    votes = np.array([5.0, 9.0, 1.0, 4.0, 8.0, 8.0])
    assert _most_votes(votes, guesses, 6) == [1, 4, 5]
    assert _most_votes(votes, guesses, 2) == [1, 4]
    edge = np.array([[0.0], [0.25], [0.5001]])
    assert _most_votes(np.array([3.0, 2.0, 1.0]), edge, 3) == [0, 2], "a quarter itself is not apart"
    lines = np.array([[0.0, 0.0], [0.6, -0.4], [0.3, 0.1]])
    assert _most_votes(np.array([3.0, 2.0, 1.0]), lines, 3) == [0, 1], "as a mean, whatever the sign"


def test_so_many_guesses_are_looked_through_for_each_start() -> None:
    guesses, votes = np.zeros((81, 1)), np.arange(81.0, 0.0, -1.0)
    guesses[80] = 1.0
    assert _most_votes(votes, guesses, 2) == [0], "forty for each of two"
    assert _most_votes(votes[1:], guesses[1:], 2) == [0, 79]


def test_shifts_are_where_readings_agree() -> None:
    trend = np.arange(8.0)
    log_z = trend + np.array([1.0, 1.01, 1.02, 1.03, -0.5, -0.51, -0.52, 3.0])
    assert _shifts(log_z, trend, 8) == pytest.approx([1.015, -0.51, 3.0], abs=0.011)
    assert _shifts(log_z, trend, 1) == pytest.approx([1.015], abs=0.011)


def test_the_first_start_is_hot_and_takes_all() -> None:
    log_z = np.array([0.0, 0.3, 2.0])
    made = Starts.of(np.zeros((1, 3)), log_z, 8)
    assert made.temperature.tolist() == [16.0] + [2.0] * (len(made.temperature) - 1)
    np.testing.assert_array_equal(made.inlier[0], 1.0)
    assert made.candidate.tolist() == [0] * len(made.temperature)
    np.testing.assert_array_equal(made.trends, np.zeros((len(made.temperature), 3)))
    best = 0.0 if made.inlier[1, 0] == 1.0 else 0.3
    np.testing.assert_allclose(made.inlier[1], np.exp(-0.5 * ((log_z - best) / 0.3) ** 2))

    trends = np.array([[0.0, 0.0, 0.0], [0.3, 0.3, 2.0]])
    several = Starts.of(trends, log_z, 8)
    np.testing.assert_array_equal(several.trends, trends[[0, 0, 1]])
    assert several.candidate.tolist() == [0, 0, 1]
    np.testing.assert_allclose(several.inlier[2], np.exp(-0.5 * np.array([1.0, 0.0, 0.0])))


def test_a_start_that_others_found() -> None:
    made = Starts.single(np.array([1.0, 2.0]), np.array([1.5, 2.8]), 0.5)
    np.testing.assert_allclose(made.inlier, [[1.0, np.exp(-0.5)]])
    assert (made.temperature.tolist(), made.candidate.tolist()) == ([1.0], [0])
    np.testing.assert_array_equal(made.trends, [[1.0, 2.0]])


def test_pairs() -> None:
    i, j = _pairs(np.array([5, 7, 9]))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(5, 7), (5, 9), (7, 9)]
    for size, num in ((40, 780), (41, 800), (60, 800)):
        i, j = _pairs(np.arange(size) + 100)
        assert i.size == len({*zip(i.tolist(), j.tolist(), strict=True)}) == num
        assert (i < j).all()
        assert i.min() >= 100


def test_a_field_of_log_depth_is_its_own_trend() -> None:
    x = np.array([1.0, 2.0, 4.0, 1e9])
    found = log_trends(samples_of(x, np.arange(1.0, 5.0), "log_depth"), np.arange(4), 8, np.array([3.0, 5.0]))
    assert found.shape == (1, 6)
    np.testing.assert_allclose(found[0, [0, 1, 2, 4, 5]], np.array([1.0, 2.0, 4.0, 3.0, 5.0]) - 3.0)
    assert found[0, 3] < 1e9, "bounded"


@pytest.mark.parametrize("x", [None, np.full(4, 2.0)])
def test_without_a_field_or_a_shape_the_trend_is_constant(x: FloatArray | None) -> None:
    samples = samples_of(x, np.arange(1.0, 5.0))
    np.testing.assert_array_equal(log_trends(samples, np.arange(4), 8), np.zeros((1, 4)))
    np.testing.assert_array_equal(log_trends(samples, np.arange(4), 8, np.ones(3)), np.zeros((1, 7)))


@pytest.mark.parametrize("space", ["depth", "inverse_depth"])
def test_lines_through_pairs_are_voted_on(space: str) -> None:
    rng = np.random.default_rng(0)
    z_m = rng.uniform(1.0, 4.0, 20)
    x = 2.0 * (z_m if space == "depth" else 1.0 / z_m) + 5.0
    wrong = np.arange(20) < 6
    samples = samples_of(x, np.where(wrong, 0.4 * z_m, z_m), space)
    more = 2.0 * np.array([2.0, 100.0, 1e-9]) + 5.0
    found = log_trends(samples, np.arange(20), 8, more)
    np.testing.assert_allclose(found[0, :20], np.log(z_m), atol=1e-6)  # single precision
    low, high = np.log([samples.z_m.min() / 3.0, samples.z_m.max() * 3.0])
    wanted = [np.log(2.0), high, low] if space == "depth" else [np.log(0.5), low, high]
    np.testing.assert_allclose(found[0, 20:], wanted, atol=1e-6)
    assert 1 <= len(found) <= 8
    assert len(log_trends(samples, np.arange(20), 1)) == 1


def test_only_a_rising_line_is_one_of_its_own_space() -> None:
    x, z_m = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([5.0, 4.0, 3.0, 2.0, 4.5])
    for native in (True, False):
        found = log_trends(samples_of(x, z_m, native=native), np.arange(5), 8)
        rising = (np.diff(found, axis=1) >= 0.0).all(axis=1)
        assert rising.all() == native
    falling = log_trends(samples_of(x, 6.0 - x), np.arange(5), 8)
    assert (np.diff(falling[0]) < 0.0).all(), "where no pair rises, falling lines are all there is"


def test_no_line_is_drawn_through_readings_whose_relative_depth_differs_in_the_tenth_digit() -> None:
    """Both vote alone, so that there is no other pair."""
    x, z_m = np.array([1e6, 1e6 * (1.0 + 1e-10), 2e6]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(log_trends(samples_of(x, z_m), np.array([0, 1]), 8), np.zeros((1, 3)))
    assert np.ptp(log_trends(samples_of(x, z_m), np.array([0, 2]), 8)) > 0.1


def outcome(evidence: list[float], inlier: list[list[float]]) -> Outcome:
    num, K = len(evidence), len(inlier[0])
    state = State(np.ones(num), np.array(inlier), np.ones(num), np.ones(num), np.ones((num, 4)))
    return Outcome(state, np.array(evidence), np.zeros((num, K)), np.ones((num, K)), np.ones((num, 4, K)))


def test_three_distinct_hypotheses_are_carried_on() -> None:
    inlier = [[1.0, 1.0], [1.0, 0.9], [0.0, 1.0], [1.0, 0.5], [0.4, 0.4], [1.0, 0.0]]
    found = _distinct(outcome([5.0, 6.0, 3.0, 4.0, 2.0, -15.0], inlier))
    assert found.tolist() == [1, 3, 2]
    assert _distinct(outcome([5.0, 6.0], [[1.0, 0.8], [1.0, 1.0]])).tolist() == [1], "a fifth is not distinct"
    assert _distinct(outcome([5.0, 25.0], [[0.0], [1.0]])).tolist() == [1, 0], "20 behind is not hopeless"
    assert _distinct(outcome([4.9, 25.0], [[0.0], [1.0]])).tolist() == [1]


def test_the_search_starts_at_two_amplitudes_from_the_prior_shares() -> None:
    rng = np.random.default_rng(1)
    trend = rng.normal(size=8)
    log_z = trend + 0.05 * rng.normal(size=8)
    options = MixtureOptions()
    single = Starts.single(trend, log_z, 0.0)
    model = MixtureModel(log_z, single.trends, rng.normal(size=(8, 8)), np.zeros(8, bool), options, 0.5)
    state, start, carried = search(model, single)
    np.testing.assert_allclose(state.amplitude, [0.2, 0.45])
    np.testing.assert_allclose(state.share, 0.8)
    np.testing.assert_allclose(state.kinds, np.tile([0.4, 0.2, 0.2, 0.2], (2, 1)))
    assert (start.tolist(), carried.tolist()) == ([0, 0], [0])
    np.testing.assert_array_equal(state.inlier, np.repeat(single.inlier, 2, axis=0))

    several = Starts.of(trend[None], log_z, 8)
    model = MixtureModel(log_z, several.trends, rng.normal(size=(8, 8)), np.zeros(8, bool), options, 0.5)
    num = len(several.temperature)
    state, start, carried = search(model, several)
    assert start.tolist() == np.repeat(np.arange(num), 2).tolist()
    np.testing.assert_allclose(state.temperature, np.maximum(np.repeat(several.temperature, 2) * 0.7**4, 1.0))
    assert 1 <= carried.size <= 3
