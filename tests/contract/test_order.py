"""The order of the readings changes nothing, to the bit, for every registered method."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac import Anchors, MetricDepth, RelativeDepth
from tests.contract.test_method import METHODS, calibrator

SHAPE = (60, 80)
IMAGE = np.random.default_rng(0).integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
Order = NDArray[np.intp]


@cache
def scene(K: int, shape: tuple[int, int] = SHAPE) -> tuple[RelativeDepth, Anchors]:
    """Relative depth with errors, and K readings: a quarter wrong, some unusable, some several in one pixel."""
    rng = np.random.default_rng(K)
    H, W = shape
    v, u = np.mgrid[0:H, 0:W]
    z = 1.5 + 2.0 * v / H + 1.5 * (u > W / 2)
    relative = RelativeDepth(np.log(z) + 0.1 * np.sin(u / 9.0) + 0.02 * rng.normal(size=shape), "log_depth")
    pixel = rng.choice(H * W, K, replace=False)
    pixel[: K // 10] = pixel[K // 10 : 2 * (K // 10)]
    uv = np.stack([pixel % W, pixel // W], axis=1)
    reading = z.ravel()[pixel] * np.where(rng.random(K) < 0.25, rng.uniform(0.3, 0.8, K), 1.0)
    reading *= np.exp(0.01 * rng.normal(size=K))
    sigma = 0.02 * reading if K >= 200 else None
    if K >= 50:
        reading[-3:] = np.nan, 0.0, -1.0
    return relative, Anchors(uv + rng.uniform(-0.4, 0.4, (K, 2)), reading, sigma)


def shuffled(anchors: Anchors) -> tuple[Anchors, Order]:
    K = len(anchors)
    order = np.random.default_rng(1).permutation(K) if K > 3 else np.arange(K)[::-1]
    sigma = None if anchors.sigma_m is None else anchors.sigma_m[order]
    return Anchors(anchors.uv_px[order], anchors.z_m[order], sigma), order


def check_same(first: MetricDepth, second: MetricDepth, order: Order) -> None:
    for name, values in vars(first.anchors).items():
        np.testing.assert_array_equal(getattr(second.anchors, name), values[order], err_msg=name)
    for name in ("depth_m", "sigma_m"):
        np.testing.assert_array_equal(getattr(second, name), getattr(first, name), err_msg=name)
    assert (second.status, second.fit.scale, second.fit.shift) == (first.status, first.fit.scale, first.fit.shift)
    np.testing.assert_array_equal(second.fit.used, first.fit.used)


@pytest.mark.parametrize("K", [2, 3, 50, 200, 2000])
@pytest.mark.parametrize("method", METHODS)
def test_shuffled_readings_give_the_same_answer(method: str, K: int) -> None:
    relative, anchors = scene(K)
    other, order = shuffled(anchors)
    first, second = (calibrator(method)(IMAGE, each, relative) for each in (anchors, other))
    check_same(first, second, order)


def test_twenty_thousand_shuffled_readings_give_the_same_answer() -> None:
    shape = (150, 200)
    relative, anchors = scene(20_000, shape)
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    other, order = shuffled(anchors)
    first, second = (calibrator("default")(image, each, relative) for each in (anchors, other))
    check_same(first, second, order)
