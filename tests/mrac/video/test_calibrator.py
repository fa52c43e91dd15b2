"""The temporal model on made scenes, whose depth and motion are known exactly."""

import gc
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.video import VideoCalibrator

SHAPE = (96, 128)


def texture(seed: int = 0, shape: tuple[int, int] = SHAPE) -> NDArray[np.uint8]:
    """Blocks of random grey: corners everywhere."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 256, (shape[0] // 8 + 1, shape[1] // 8 + 1))
    grey = np.kron(cells, np.ones((8, 8)))[: shape[0], : shape[1]]
    return np.repeat(grey[:, :, None], 3, axis=2).astype(np.uint8)


def plane(shape: tuple[int, int] = SHAPE) -> NDArray[np.float64]:
    v, u = np.mgrid[0 : shape[0], 0 : shape[1]]
    return np.asarray(2.0 + 1.5 * v / shape[0] + 0.5 * u / shape[1])


def draw(depth_m: NDArray[np.float64], num: int, rng: np.random.Generator, noise: float = 0.0) -> Anchors:
    index = rng.choice(depth_m.size, num, replace=False)
    v, u = np.divmod(index, depth_m.shape[1])
    z_m = depth_m[v, u] * np.exp(noise * rng.normal(size=num))
    return Anchors(np.stack([u, v], axis=1), z_m, noise * z_m)


def plain(**options: object) -> VideoCalibrator:
    """Without the learned gate, so that a thousand frames take seconds."""
    return VideoCalibrator(Calibrator(gate="none", fit="ols"), **options)  # type: ignore[arg-type]


def levels(video: VideoCalibrator | Calibrator, frames: Iterator[tuple[Anchors, float]]) -> NDArray[np.float64]:
    """Median log error of frames of one picture, whose true depth is the plane times a factor."""
    image, depth_m = texture(), plane()
    relative = RelativeDepth(np.log(depth_m), "log_depth")
    out = [
        np.median(np.log(video(image, anchors, relative).depth_m / (factor * depth_m))) for anchors, factor in frames
    ]
    return np.array(out)


def noisy(num: int, seed: int = 0, noise: float = 0.05) -> Iterator[tuple[Anchors, float]]:
    rng = np.random.default_rng(seed)
    return ((draw(plane(), 12, rng, noise), 1.0) for _ in range(num))


def test_a_constant_scene_flickers_less_with_every_frame() -> None:
    videos = np.array([levels(plain(), noisy(10, seed)) for seed in range(6)])
    alone = np.array([levels(Calibrator(gate="none", fit="ols"), noisy(10, seed)) for seed in range(6)])
    before, after = alone.std(), videos[:, 5:].std()
    assert videos[:, 0].std() == pytest.approx(alone[:, 0].std(), rel=1e-6), "the first frame has no past"
    assert after < before / 1.5
    assert np.diff(videos[:, 5:]).std() < np.diff(alone[:, 5:]).std() / 2.0


def test_a_jump_of_the_true_scale_is_followed_at_once() -> None:
    rng = np.random.default_rng(1)
    factors = [1.0] * 4 + [1.6] * 3
    video = VideoCalibrator()
    image, depth_m = texture(), plane()
    relative = RelativeDepth(np.log(depth_m), "log_depth")
    errors, cuts = [], []
    for factor in factors:
        result = video(image, draw(factor * depth_m, 20, rng, 0.01), relative)
        errors.append(abs(np.median(np.log(result.depth_m / (factor * depth_m)))))
        cuts.append(video.last.cut)
    assert cuts == ["first", "", "", "", "level", "", ""]
    assert max(errors) < 0.02


def test_another_picture_starts_anew() -> None:
    rng = np.random.default_rng(2)
    video = plain()
    video(texture(0), draw(plane(), 20, rng))
    video(texture(0), draw(plane(), 20, rng))
    assert video.last.cut == ""
    assert video.last.num_carried > 0
    video(texture(1), draw(3.0 * plane(), 20, rng))
    assert video.last.cut == "picture"
    assert video.last.num_carried == 0


def test_a_frame_of_wrong_readings_alone_changes_little() -> None:
    rng = np.random.default_rng(3)
    image, depth_m = texture(), plane()
    relative = RelativeDepth(np.log(depth_m), "log_depth")
    video = VideoCalibrator()
    for _ in range(4):
        video(image, draw(depth_m, 15, rng, 0.01), relative)
    wrong = draw(depth_m, 15, rng)
    wrong = Anchors(wrong.uv_px, wrong.z_m * rng.uniform(0.2, 0.6, 15))
    alone = Calibrator()(image, wrong, relative)
    result = video(image, wrong, relative)
    assert abs(np.median(np.log(alone.depth_m / depth_m))) > 0.3, "by itself the frame is lost"
    assert video.last.cut == ""
    assert abs(np.median(np.log(result.depth_m / depth_m))) < 0.03
    assert len(result.anchors) == 15
    assert result.anchors.keep.sum() <= 2
    assert result.status != "ok"
    after = video(image, draw(depth_m, 15, rng, 0.01), relative)
    assert abs(np.median(np.log(after.depth_m / depth_m))) < 0.02


def test_a_frame_without_readings_lives_on_those_before() -> None:
    rng = np.random.default_rng(4)
    video = plain()
    video(texture(), draw(plane(), 40, rng))
    result = video(texture(), Anchors(np.zeros((0, 2)), np.zeros(0)))
    assert len(result.anchors) == 0
    assert np.abs(np.log(result.depth_m / plane())).mean() < 0.05


def test_the_same_frames_give_the_same_depth_and_a_reset_forgets() -> None:
    image, relative = texture(), RelativeDepth(np.log(plane()), "log_depth")
    frames = [(image, anchors, relative) for anchors, _ in noisy(4)]
    video = plain()
    first = [result.depth_m for result in video.frames(frames)]
    video.reset()
    second = [result.depth_m for result in video.frames(frames)]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_the_readings_does_not_matter() -> None:
    image, relative = texture(), RelativeDepth(np.log(plane()), "log_depth")
    one, other = plain(), plain()
    for anchors, _ in noisy(4):
        assert anchors.sigma_m is not None
        turned = Anchors(anchors.uv_px[::-1], anchors.z_m[::-1], anchors.sigma_m[::-1])
        a, b = one(image, anchors, relative), other(image, turned, relative)
        np.testing.assert_allclose(a.depth_m, b.depth_m, rtol=1e-5)
        np.testing.assert_array_equal(a.anchors.keep, b.anchors.keep[::-1])


def test_memory_is_bounded_over_five_hundred_frames() -> None:
    shape = (48, 64)
    image, depth_m, rng = texture(0, shape), plane(shape), np.random.default_rng(5)
    video = VideoCalibrator(Calibrator(foundation="none", gate="none", fit="ols", head="affine"), max_carried=30)

    def run(num: int) -> int:
        for _ in range(num):
            video(image, draw(depth_m, 8, rng, 0.02))
            assert video.last.num_carried <= 30
        gc.collect()  # what waits for it is no growth
        return tracemalloc.get_traced_memory()[0]

    run(20)
    tracemalloc.start()
    try:
        early = run(30)
        late = run(450)
    finally:
        tracemalloc.stop()
    assert late < early + 100_000
    assert 0.002 <= video._step_var**0.5 <= 0.05


def test_time_that_runs_backwards_and_another_size_start_anew() -> None:
    rng = np.random.default_rng(6)
    video = plain()
    video(texture(), draw(plane(), 20, rng), time_s=1.0)
    video(texture(), draw(plane(), 20, rng), time_s=0.5)
    assert video.last.cut == "time"
    video(texture(0, (48, 64)), draw(plane((48, 64)), 20, rng), time_s=2.0)
    assert video.last.cut == "size"


def test_a_refused_frame_leaves_the_state_as_it_was() -> None:
    rng = np.random.default_rng(7)
    video = plain()
    video(texture(), draw(plane(), 20, rng))
    past = list(video._past)
    with pytest.raises(ContractError, match="image"):
        video(texture()[:, :, 0], draw(plane(), 20, rng))
    assert list(video._past) == past


@pytest.mark.parametrize("most", [-1, 1.5, True])
def test_an_impossible_number_of_carried_readings_is_refused(most: object) -> None:
    with pytest.raises(ContractError, match="max_carried"):
        plain(max_carried=most)


def test_a_reading_without_a_usable_deviation_spoils_no_later_frame() -> None:
    rng, video = np.random.default_rng(4), plain()
    image, relative = texture(), RelativeDepth(np.log(plane()), "log_depth")
    for number in range(3):
        anchors = draw(plane(), 12, rng, 0.02)
        if number == 1 and anchors.sigma_m is not None:
            broken = np.where(np.arange(12) == 5, np.nan, anchors.sigma_m)
            anchors = Anchors(anchors.uv_px, anchors.z_m, broken)
        result = video(image, anchors, relative)
        assert (result.anchors.reason == "bad_sigma").sum() == (number == 1)
        assert np.isfinite(video.last.level_change)
    assert video.last.num_carried > 0


def test_readings_on_a_grid_are_points_in_every_frame_unless_stated() -> None:
    """A guess would change as soon as carried readings lie between them."""
    image, depth_m = texture(), plane()
    depth_m[30:60, 40:90] *= 0.6
    relative = RelativeDepth(np.log(depth_m), "log_depth")
    u, v = (np.arange(8) + 0.5) * 16 - 0.5, (np.arange(8) + 0.5) * 12 - 0.5
    uv_px = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    z_m = depth_m.reshape(8, 12, 8, 16).mean(axis=(1, 3)).ravel()
    assert [one.name for one in Calibrator()(image, Anchors(uv_px, z_m), relative).warnings] == ["zones"]
    video = plain()
    for _ in range(3):
        assert not video(image, Anchors(uv_px, z_m), relative).warnings
    stated = Anchors(uv_px, z_m, extent_px=np.tile([16.0, 12.0], (64, 1)))
    areas = plain()(image, stated, relative)
    assert (
        np.abs(areas.depth_m / depth_m - 1.0).mean()
        < np.abs(plain()(image, Anchors(uv_px, z_m), relative).depth_m / depth_m - 1.0).mean()
    )
