from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lab.bench.conditions import WRONG_SHARE, Drawn, Draws
from mrac.lab.bench.protocol import Condition, Protocol
from mrac.lab.bench.work import sets_in
from mrac.lab.data import Sample

Make = Callable[..., Protocol]


@pytest.fixture
def sample(pack: Path) -> Sample:
    return sets_in(pack)["room"][1]


@pytest.fixture
def draw(sample: Sample, make_protocol: Make) -> Callable[..., Drawn]:
    def draw(**condition: Any) -> Drawn:
        return Draws(sample, make_protocol(), _nothing_to_say)(Condition(set_name="room", **condition))

    return draw


def _nothing_to_say(anchors: Anchors) -> FloatArray:
    raise AssertionError("no placement but one asks for it")


def test_clean_anchors_are_the_truth_at_scored_pixels(draw: Callable[..., Drawn], sample: Sample) -> None:
    drawn = draw(num_anchors=40)
    u, v = drawn.anchors.uv_px.astype(int).T
    assert len(drawn.anchors) == 40
    assert sample.scored[v, u].all()
    np.testing.assert_array_equal(drawn.anchors.z_m, sample.truth_m[v, u])
    assert not drawn.wrong.any()


@pytest.mark.parametrize("family", ["uniform", "near", "dropout", "mixed_pixel", "gaussian:sigma_m=0.3"])
def test_a_family_moves_readings_not_positions(draw: Callable[..., Drawn], family: str) -> None:
    clean, corrupted = draw(), draw(family=family, fraction=0.4)
    np.testing.assert_array_equal(corrupted.anchors.uv_px, clean.anchors.uv_px)
    assert corrupted.wrong.sum() == 20
    same = corrupted.anchors.z_m == clean.anchors.z_m
    assert same[~corrupted.wrong].all()
    assert not same[corrupted.wrong].all()
    assert corrupted.hash != clean.hash


def test_draws_depend_on_neither_order_nor_company(sample: Sample, make_protocol: Make) -> None:
    conditions = [
        Condition(set_name="room", family=family, fraction=fraction, num_anchors=num_anchors, seed=seed)
        for family, fraction in (("none", 0.0), ("near", 0.25), ("uniform", 0.25))
        for num_anchors in (5, 30)
        for seed in (0, 1)
    ]
    draws = Draws(sample, make_protocol(), _nothing_to_say)
    together = {condition: draws(condition).hash for condition in conditions}
    assert len(set(together.values())) == len(conditions)
    for condition in reversed(conditions):
        assert Draws(sample, make_protocol(), _nothing_to_say)(condition).hash == together[condition]


def test_the_hashes_of_a_known_image_stay(draw: Callable[..., Drawn]) -> None:
    """Results of one version are compared with those of the next: what is drawn must not change."""
    assert draw(num_anchors=10).hash[:16] == "1752bdb2c3c0c404"
    assert draw(num_anchors=10, family="near", fraction=0.3).hash[:16] == "77bf9255de6aced3"


def test_noise_of_twice_the_deviation_is_twice_the_noise(draw: Callable[..., Drawn]) -> None:
    clean = draw().anchors.z_m
    small, large = (draw(family=f"gaussian:sigma_m={s}", fraction=1.0).anchors.z_m - clean for s in (0.1, 0.2))
    np.testing.assert_allclose(large, 2.0 * small, atol=1e-12)


def test_uncertain_places_are_asked_for_once_and_from_clean_anchors(sample: Sample, make_protocol: Make) -> None:
    asked: list[Anchors] = []

    def uncertainty(anchors: Anchors) -> FloatArray:
        asked.append(anchors)
        return np.arange(sample.truth_m.size, dtype=np.float64).reshape(sample.truth_m.shape)

    draws = Draws(sample, make_protocol(), uncertainty)
    for fraction in (0.1, 0.2):
        drawn = draws(
            Condition(set_name="room", placement="uncertainty_active", family="near", fraction=fraction, num_anchors=10)
        )
        assert drawn.anchors.uv_px[:, 1].min() == sample.truth_m.shape[0] - 1
    (first,) = asked
    plain = draws(Condition(set_name="room", num_anchors=10))
    np.testing.assert_array_equal(first.z_m, plain.anchors.z_m)


def test_natural_readings_are_wrong_as_often_as_the_sensor_is(draw: Callable[..., Drawn], sample: Sample) -> None:
    drawn = draw(source="lidar", family="natural", num_anchors=1000)
    u, v = drawn.anchors.uv_px.astype(int).T
    off = np.abs(drawn.anchors.z_m / sample.truth_m[v, u] - 1.0)
    np.testing.assert_array_equal(drawn.wrong, off > WRONG_SHARE)
    assert 0.15 < drawn.wrong.mean() < 0.25
    assert draw(source="sensor", family="natural", num_anchors=7, seed=3).hash == (
        draw(source="sensor", family="natural", num_anchors=7, seed=3).hash
    )


def test_enriched_readings_are_wrong_as_often_as_asked(draw: Callable[..., Drawn]) -> None:
    few, many = (draw(source="sensor", family="enriched", fraction=p) for p in (0.1, 0.4))
    assert (few.wrong.sum(), many.wrong.sum()) == (5, 20)
    assert len(few.anchors) == len(many.anchors) == 50
    # The wrong ones of a smaller share are among those of a larger.
    assert {tuple(uv) for uv in few.anchors.uv_px[few.wrong]} <= {tuple(uv) for uv in many.anchors.uv_px[many.wrong]}


def test_a_small_pool_of_wrong_readings_gives_all_it_has(draw: Callable[..., Drawn]) -> None:
    drawn = draw(source="sensor", family="enriched", fraction=1.0, num_anchors=10_000)
    assert 300 < drawn.wrong.sum() == len(drawn.anchors) - (~drawn.wrong).sum() < 400


def test_a_set_without_that_sensor_says_so(draw: Callable[..., Drawn]) -> None:
    with pytest.raises(ContractError, match="has no readings 'aux'; known: sensor"):
        draw(source="stereo", family="natural")


def test_an_image_without_truth_says_so(sample: Sample, make_protocol: Make) -> None:
    sample.__dict__["scored"] = np.zeros_like(sample.scored)
    with pytest.raises(ContractError, match="no pixel is both scored and measured"):
        Draws(sample, make_protocol(), _nothing_to_say)(Condition(set_name="room"))


def test_a_zone_reads_its_mean_which_is_right(draw: Callable[..., Drawn], sample: Sample) -> None:
    drawn = draw(placement="zones:num=2", num_anchors=16)
    H, W = sample.truth_m.shape
    valid = sample.scored & sample.measured
    assert len(drawn.anchors) == 4
    assert not drawn.wrong.any()
    for (u, v), z_m in zip(drawn.anchors.uv_px.astype(int), drawn.anchors.z_m, strict=True):
        top, left = v * 2 // H * H // 2, u * 2 // W * W // 2
        zone = np.s_[top : top + H // 2, left : left + W // 2]
        assert z_m == pytest.approx(sample.truth_m[zone][valid[zone]].mean(), rel=1e-5)


@pytest.mark.parametrize("placement", ["features", "range_limited:quantile=0.5", "zones"])
def test_placements_are_given_image_and_depth(draw: Callable[..., Drawn], sample: Sample, placement: str) -> None:
    drawn = draw(placement=placement, num_anchors=10)
    assert len(drawn.anchors) == 10
    if placement.startswith("range_limited"):
        assert drawn.anchors.z_m.max() <= np.median(sample.truth_m[sample.scored])
