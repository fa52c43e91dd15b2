"""The level of a video's frames: neither carried readings nor the network may take it away from good readings."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.video import VideoCalibrator
from mrac.video.carried import Carried, with_carried
from mrac.video.scale import NetworkLevel, level_var
from tests.mrac.video.test_calibrator import SHAPE, draw, plane, texture


def stages() -> Calibrator:
    return Calibrator(gate="none", fit="ols")


def field_error(rng: np.random.Generator, std: float) -> NDArray[np.float64]:
    """A smooth error of log depth, of mean 0 over the image."""
    error = ndimage.gaussian_filter(rng.normal(size=SHAPE), 12.0)
    return np.asarray(std * (error - error.mean()) / error.std())


def flicker(levels: list[float]) -> float:
    return float(np.std(np.diff(levels)))


def test_a_common_error_of_carried_readings_does_not_flicker(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, depth_m, moved = np.random.default_rng(0), plane(), Carried.moved
    sign = iter(np.random.default_rng(5).choice([-1.0, 1.0], 100))

    def off_by_one_percent(carried: Carried, *how: Any) -> Carried:
        now = moved(carried, *how)
        return now.shifted(np.full(len(now), 0.01 * next(sign)))

    monkeypatch.setattr(Carried, "moved", off_by_one_percent)
    alone, video = stages(), VideoCalibrator(stages())
    levels: tuple[list[float], list[float]] = ([], [])
    for _ in range(16):
        relative = RelativeDepth(np.log(depth_m) + field_error(rng, 0.03), "log_depth")
        anchors = draw(depth_m, 50, rng)
        ways: tuple[Calibrator | VideoCalibrator, ...] = (alone, video)
        for level, made in zip(levels, ways, strict=True):
            result = made(texture(), anchors, relative)
            level.append(float(np.median(np.log(result.depth_m / depth_m))))
    assert video.last.num_carried > 20
    assert flicker(levels[1]) <= flicker(levels[0])


def test_carried_readings_together_tell_the_level_as_one_with_their_common_error() -> None:
    own = Anchors(np.zeros((1, 2)), np.ones(1), np.full(1, 0.01))
    carried = Carried(np.ones((100, 2)), np.full(100, 2.0), np.full(100, 0.005**2))
    both = with_carried(own, carried, 0.01**2)
    assert both.sigma_m is not None
    assert both.sigma_m[0] == pytest.approx(0.01)
    deviation_of_mean = (both.sigma_m[1:] / 2.0) / np.sqrt(100)
    assert deviation_of_mean == pytest.approx(np.hypot(0.01, 0.0005))


def few(seed: int, num: int, factors: list[float]) -> tuple[list[float], list[float], list[str]]:
    """Level errors of frames that show nothing in common, by frame and with video, and the cuts."""
    rng, depth_m = np.random.default_rng(seed), plane()
    alone, video = stages(), VideoCalibrator(stages())
    frames: list[float] = []
    videos: list[float] = []
    cuts: list[str] = []
    for number, factor in enumerate(factors):
        relative = RelativeDepth(np.log(depth_m) + 0.3 + 0.005 * rng.normal(), "log_depth")
        anchors, image = draw(factor * depth_m, num, rng, 0.25), texture(100 + number)
        for level, made in ((frames, alone), (videos, video)):
            result = made(image, anchors, relative)
            level.append(float(np.median(np.log(result.depth_m / (factor * depth_m)))))
        cuts.append(video.last.cut)
    return frames, videos, cuts


def test_the_networks_level_halves_flicker_where_nothing_can_be_matched() -> None:
    frame, video, cuts = few(0, 10, [1.0] * 30)
    assert set(cuts[1:]) == {"picture"}
    assert flicker(video[10:]) < 0.5 * flicker(frame[10:])


def test_another_scale_after_a_cut_is_followed_at_once() -> None:
    frame, video, _ = few(1, 40, [1.0] * 8 + [1.8] * 4)
    assert video[8] == pytest.approx(frame[8], abs=1e-6), "the frame's readings alone decide"
    assert np.abs(video[8:]).max() < 0.15


def test_a_level_that_many_readings_determine_is_left_alone() -> None:
    network = NetworkLevel()
    for _ in range(20):
        network.change(0.1, 0.002**2)
    assert abs(network.change(0.13, 0.002**2)) < 0.001
    assert 0.01 < network.change(0.13, 0.04**2) < 0.03


def test_the_variance_of_a_level_falls_with_readings_and_rises_with_wrong_ones() -> None:
    rng = np.random.default_rng(2)

    def var(num: int, rejected: float = 0.0) -> float:
        features = np.zeros((num + 100, 8))
        features[:, :2] = rng.uniform(0.0, 3.0, (num + 100, 2))
        return level_var(features, 0.05 * rng.normal(size=num), np.ones(num), None, rejected)

    assert var(100) < 0.5 * var(10) < 0.5 * var(1)
    assert var(10, 0.25) > 2.0 * var(10)
