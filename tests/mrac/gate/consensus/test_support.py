"""What decides whether relative depth is used, written out number by number."""

import math

import numpy as np
import pytest

from mrac.gate.consensus import Consensus, average_hypotheses
from mrac.gate.consensus.initialisation import Starts
from mrac.gate.consensus.model import MixtureModel
from mrac.gate.consensus.support import Support, residual_gain
from mrac.gp.features import covered_area
from tests.mrac.gate.test_consensus import scene


def support(*, majority: float = 50.0, area: float = 0.9, gain: float = 1.0, added: float = 0.0) -> Support:
    return Support(added_evidence=added, residual_gain=gain, majority=majority, area=area)


@pytest.mark.parametrize(("majority", "asked"), [(200.0, 1.0), (50.0, 1.0), (30.0, 0.5), (10.0, 0.0), (-20.0, 0.0)])
def test_the_more_inliers_the_more_evidence_is_needed(majority: float, asked: float) -> None:
    seen = support(majority=majority)
    assert seen.needed_evidence(1.0) == pytest.approx(asked)
    assert seen.needed_evidence(4.0) == pytest.approx(4.0 * asked)
    assert seen.needed_evidence(-3.0) == pytest.approx(-3.0)


@pytest.mark.parametrize("area", [0.0, 0.01, 0.2])
def test_readings_in_a_corner_must_contradict(area: float) -> None:
    assert support(area=area).needed_evidence(1.0) == pytest.approx(1.0 - 20.0 * (1.0 - area / 0.26))


def test_residuals_must_fall_too() -> None:
    assert support(gain=0.07).needed_evidence(1.0) == pytest.approx(1.0)
    assert support(gain=0.02).needed_evidence(1.0) == pytest.approx(1.0 + 60.0 * 0.05)
    assert support(gain=-0.1).needed_evidence(1.0) == pytest.approx(1.0 + 60.0 * 0.17)
    few = support(gain=0.02, majority=30.0)
    assert few.needed_evidence(1.0) == pytest.approx(0.5 + 0.5 * 60.0 * 0.05)
    corner = support(gain=0.02, area=0.13)
    assert corner.needed_evidence(1.0) == pytest.approx(1.0 - 10.0 + 0.5 * 60.0 * 0.05)


def test_it_is_used_from_what_is_needed_on() -> None:
    assert support(added=1.0).suffices(1.0)
    assert not support(added=0.999).suffices(1.0)
    assert support(added=-1e3, gain=-5.0).suffices(-1e6)


def test_the_gain_is_of_mean_residuals() -> None:
    small, large = np.array([0.01, -0.03]), np.array([-0.02, 0.06])
    assert residual_gain(small, large) == pytest.approx(math.log(2.0))
    assert residual_gain(large, small) == pytest.approx(-math.log(2.0))


def test_an_outlier_counts_for_no_more_than_a_large_residual() -> None:
    assert residual_gain(np.array([0.05, -3.0]), np.array([0.1, 9.0])) == pytest.approx(math.log(0.25 / 0.2))


def test_residuals_of_rounding_gain_nothing() -> None:
    assert residual_gain(np.full(9, 1e-9), np.full(9, 1e-5)) == 0.0


def test_what_readings_say_of_relative_depth() -> None:
    """The model with it, against the same readings around a constant."""
    samples, _ = scene(num=40)
    gate = Consensus()
    (group,) = gate.judge_groups(samples, [np.arange(40)], None)
    features = group.model.features.copy()
    features[:, 7] = 0.0
    log_z = np.log(samples.z_m)
    starts = Starts.of(np.zeros((1, 40)), log_z, 1)
    bare = MixtureModel(log_z, starts.trends, features, group.model.repeated, gate, 0.5)
    judged, best = average_hypotheses(bare, starts, (0.05, 0.2, 0.55, 1.2))
    said = gate.support(group, 100)
    assert said.added_evidence == pytest.approx(group.best.evidence - best.evidence)
    assert said.added_evidence > 1.0
    assert said.residual_gain == pytest.approx(residual_gain(group.judgement.residual, judged.residual))
    assert said.residual_gain > 0.07
    assert said.majority == pytest.approx(100 * (2.0 * group.best.share - 1.0))
    assert said.area == pytest.approx(covered_area(features[:, :2]))
