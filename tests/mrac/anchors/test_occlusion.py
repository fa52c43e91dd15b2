import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.anchors.occlusion import ABOVE, BELOW, BESIDE, RATIO, occluded, spacing_px


def scene(seed: int, num: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    uv = rng.permutation(np.stack(np.meshgrid(np.arange(60), np.arange(50)), axis=2).reshape(-1, 2))[:num].astype(float)
    return uv, rng.choice([3.0, 9.0], num) * rng.uniform(0.97, 1.03, num)


def by_definition(uv: np.ndarray, z: np.ndarray, unit: float) -> np.ndarray:
    du, dv = uv[None, :, 0] - uv[:, None, 0], uv[None, :, 1] - uv[:, None, 1]
    inside = (np.abs(du) <= BESIDE * unit) & (-ABOVE * unit <= dv) & (dv <= BELOW * unit)
    return np.asarray((inside & (z[None] < z[:, None] / RATIO)).any(axis=1))


@given(st.integers(0, 10_000), st.sampled_from([9, 30, 400]))
@settings(max_examples=40, deadline=None)
def test_it_is_the_window_s_definition(seed: int, num: int) -> None:
    uv, z = scene(seed, num)
    np.testing.assert_array_equal(occluded(uv, z), by_definition(uv, z, spacing_px(uv)))
    np.testing.assert_array_equal(occluded(uv, z, 1.5), by_definition(uv, z, min(1.5, spacing_px(uv))))


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_neither_order_nor_unit_nor_image_size_matters(seed: int) -> None:
    uv, z = scene(seed)
    flagged = occluded(uv, z)
    order = np.random.default_rng(seed).permutation(z.size)
    np.testing.assert_array_equal(occluded(uv[order], z[order]), flagged[order])
    np.testing.assert_array_equal(occluded(uv, 1024.0 * z), flagged)
    np.testing.assert_array_equal(occluded(4.0 * uv, z), flagged)


def test_the_ground_is_not_occluded_by_what_is_before_it() -> None:
    u, v = (a.ravel() for a in np.meshgrid(np.arange(0, 600, 2.0), np.arange(10, 150, 5.0)))
    ground = 1200.0 / v  # a camera 1.65 m high with 721 pixels, from 120 m to 8 m
    near = ground < 30.0
    uv = np.stack([u, v], axis=1)
    assert not occluded(uv[near], ground[near]).any()


def test_a_post_hides_what_lies_between_its_points_and_nothing_beside_it() -> None:
    u, v = (a.ravel() for a in np.meshgrid(np.arange(0, 200, 2.0), np.arange(0, 100, 5.0)))
    post = (u >= 100) & (u < 120)
    through = post & (u % 4 == 0)
    z = np.where(post & ~through, 4.0, 12.0)
    flagged = occluded(np.stack([u, v], axis=1), z)
    assert flagged[through].all()
    assert not flagged[(u < 90) | (u > 130) | (post & ~through)].any()


def test_the_spacing_of_a_grid() -> None:
    uv = np.stack(np.meshgrid(np.arange(0, 300, 3.0), np.arange(0, 300, 3.0)), axis=2).reshape(-1, 2)
    assert 2.4 < spacing_px(uv) < 3.6


def test_few_points_are_never_occluded() -> None:
    for num in range(9):
        assert not occluded(np.arange(2.0 * num).reshape(num, 2), np.linspace(1, 9, num)).any()


def test_twenty_thousand_points_take_a_tenth_of_a_second_at_most() -> None:
    rng = np.random.default_rng(0)
    uv, z = rng.uniform(0, (1242, 375), (20_000, 2)), rng.uniform(3, 80, 20_000)
    occluded(uv, z)
    took = []
    for _ in range(5):
        start = time.perf_counter()
        occluded(uv, z)
        took.append(time.perf_counter() - start)
    assert min(took) <= 0.1
