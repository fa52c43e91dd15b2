"""Pairs of methods are compared on what both have."""

import numpy as np
import pytest

from mrac.lab.studies.beyond.grid import ORACLE
from mrac.lab.studies.beyond.pairs import OURS, difference, is_variant, pair, ratio, regret
from mrac.lab.studies.claim import NotRunError
from tests.lab.studies.beyond.made import NARROW, WIDE, grid, results, row


def test_a_pair_is_compared_on_the_images_that_both_have() -> None:
    rows = [*grid("x", 0.2), *grid("y", 0.1, images="ab")]
    rows += [row("extra", "x", 9.0), row("extra", "y", 1.0)]  # not of the grid
    both = pair(results(rows), "x", "y")
    assert len(both.conditions) == 52
    assert both.images == "2 images of each set"
    np.testing.assert_allclose(both.ours, 2.0 * both.theirs)
    found = both.figure(ratio)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_a_failure_with_one_leaves_the_image_out_for_both() -> None:
    rows = [row("nyu", "x", 0.1, image="a"), row("nyu", "x", None, image="b", failure="E: no")]
    rows += [row("nyu", "y", 0.2, image="a"), row("nyu", "y", 9.0, image="b")]
    both = pair(results(rows), "x", "y")
    assert (both.ours.tolist(), both.theirs.tolist(), both.num_images.tolist()) == ([0.1], [0.2], [1])


def test_what_was_not_run_cannot_be_compared() -> None:
    some = results(grid("x", 0.1))
    with pytest.raises(NotRunError):
        pair(some, "x", "y")
    with pytest.raises(NotRunError):
        pair(some, "x", "x").only(lambda c: c.fraction == 0.9)


def test_each_cell_weighs_the_same_in_a_regret() -> None:
    a, b = np.array([0.2, 10.0]), np.array([0.1, 10.0])
    assert float(regret(a, b)) == pytest.approx(0.5)
    assert float(ratio(a, b)) == pytest.approx(10.2 / 10.1)


def test_an_interval_knows_noise_from_a_difference() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 60))
    assert difference(noise, "nyu").low < 0.0 < difference(noise, "nyu").high
    assert difference(noise + np.array([[2.0], [0.0]]), "nyu").low > 0.0


@pytest.mark.parametrize(
    ("method", "expected"),
    [(NARROW, True), (WIDE, True), (OURS, False), (ORACLE, False), ("vanilla;gate=ransac:a=1", False)],
)
def test_a_variant_is_ours_with_other_numbers(method: str, expected: bool) -> None:
    assert is_variant(method) is expected
