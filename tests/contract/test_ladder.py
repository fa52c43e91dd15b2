"""The degradation ladder of docs/trust.md, rung by rung: each says what is missing, and gives the next best answer."""

from collections.abc import Callable

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.conventions import FloatArray
from tests.conftest import MadeScene

Make = Callable[..., MadeScene]


@pytest.fixture
def scene(make_scene: Make) -> MadeScene:
    return make_scene()


def error(scene: MadeScene, depth_m: FloatArray) -> float:
    return float(np.mean(np.abs(depth_m / scene.depth_m - 1.0)))


def test_everything_is_there(scene: MadeScene) -> None:
    out = Calibrator()(scene.image, scene.anchors, scene.relative)
    assert out.status == "ok"
    assert error(scene, out.depth_m) < 0.03


def test_without_a_network_the_readings_alone_are_used(scene: MadeScene) -> None:
    out = Calibrator(foundation="none")(scene.image, scene.anchors)
    assert (out.status, out.stages["foundation"], out.fit.scale) == ("ok", "none", 0.0)
    assert error(scene, out.depth_m) < 0.25


def test_a_network_that_contradicts_the_readings_is_named_and_not_used(scene: MadeScene) -> None:
    noise = np.random.default_rng(0).random(scene.depth_m.shape)
    out = Calibrator()(scene.image, scene.anchors, RelativeDepth(noise, "inverse_depth"))
    alone = Calibrator(foundation="none")(scene.image, scene.anchors)
    assert out.status == "foundation_disagrees"
    np.testing.assert_array_equal(out.depth_m, alone.depth_m)


def test_a_network_that_says_nothing_is_named(scene: MadeScene) -> None:
    flat = RelativeDepth(np.ones(scene.depth_m.shape), "inverse_depth")
    assert Calibrator()(scene.image, scene.anchors, flat).status == "constant_relative_depth"


def test_two_readings_set_scale_and_shift(scene: MadeScene) -> None:
    out = Calibrator()(scene.image, scene.anchors.take(np.array([0, 25])), scene.relative)
    assert out.status == "two_anchors"
    assert error(scene, out.depth_m) < 0.3


def test_one_reading_sets_the_scale(scene: MadeScene) -> None:
    one = scene.anchors.take(np.array([7]))
    out = Calibrator()(scene.image, one, RelativeDepth(np.log(scene.depth_m) - 3.0, "log_depth"))
    assert (out.status, out.fit.scale) == ("one_anchor", 1.0)
    assert error(scene, out.depth_m) < 0.05  # its shape is the network's, which here is right


def test_without_readings_there_is_shape_and_a_wide_deviation(scene: MadeScene) -> None:
    none = Anchors(np.zeros((0, 2)), [])
    out = Calibrator()(scene.image, none, RelativeDepth(np.log(scene.depth_m), "log_depth"))
    assert out.status == "no_anchors"
    ratio = out.depth_m / scene.depth_m
    assert ratio.max() / ratio.min() < 1.05  # relative depth alone: right up to one factor
    assert (out.sigma_m > out.depth_m).all()  # and the deviation says that the factor is not known


def test_without_anything_the_prior_is_said_to_be_one(scene: MadeScene) -> None:
    out = Calibrator(foundation="none")(scene.image, Anchors(np.zeros((0, 2)), []))
    assert out.status == "no_anchors"
    assert np.ptp(out.depth_m) == 0.0
    assert (out.sigma_m > out.depth_m).all()


def test_a_gate_that_rejects_all_is_overruled_by_the_safest_fit(scene: MadeScene) -> None:
    wrong = np.arange(len(scene.anchors)) % 4 == 0
    anchors = Anchors(scene.anchors.uv_px, scene.anchors.z_m * np.where(wrong, 0.4, 1.0))
    calibrator = Calibrator(gate=lambda samples: np.zeros(len(samples), bool))
    out = calibrator(scene.image, anchors, scene.relative)
    assert out.status == "all_anchors_rejected"
    assert error(scene, out.depth_m) < 0.4  # all readings are used, as without a gate
    sure = Calibrator()(scene.image, anchors, scene.relative)
    assert np.median(out.sigma_m / out.depth_m) > 2.0 * np.median(
        sure.sigma_m / sure.depth_m
    )  # which the deviation says


def test_readings_that_are_all_unusable_are_a_mistake_that_is_counted(scene: MadeScene) -> None:
    with pytest.raises(ContractError, match=r"none of the \d+ is usable \(not_positive"):
        Calibrator()(scene.image, Anchors(scene.anchors.uv_px, -scene.anchors.z_m), scene.relative)
