"""One image under many conditions, and how the two ways through it are compared."""

from collections.abc import Sequence

import numpy as np

from mrac import Anchors, Calibrator, MetricDepth, RelativeDepth
from mrac.conventions import ImageArray
from mrac.lab.bench.device import on_device

TORCH_ON_CPU = "cpu:0"


def made(shape: tuple[int, int], seed: int = 0) -> tuple[ImageArray, RelativeDepth]:
    """Noise on a slope: whatever resizes it, resizes every pixel."""
    rng = np.random.default_rng(seed)
    values = 0.5 + 0.3 * rng.random(shape) + np.linspace(0.0, 1.5, shape[1])
    return rng.integers(0, 256, (*shape, 3), dtype=np.uint8), RelativeDepth(values.astype(np.float32), "log_depth")


def drawn(relative: RelativeDepth, num: int, num_wrong: int = 0, seed: int = 0) -> Anchors:
    """Readings that the field explains only roughly, the first of them much too near."""
    rng = np.random.default_rng(seed)
    W = relative.values.shape[1]
    pixel = rng.choice(relative.values.size, num, replace=False)
    z_m = np.exp(0.7 * relative.values.ravel()[pixel] + 0.3) * rng.lognormal(0.0, 0.05, num)
    z_m[:num_wrong] *= 0.4
    return Anchors(np.stack([pixel % W, pixel // W], axis=1), z_m)


def both_ways(
    calibrator: Calibrator, image: ImageArray, relative: RelativeDepth | None, anchors: Sequence[Anchors]
) -> list[tuple[MetricDepth, MetricDepth]]:
    """Each condition by the calibrator itself, and by torch with all the others."""
    together = on_device(calibrator, TORCH_ON_CPU).all_conditions(image, anchors, relative)
    return list(zip([calibrator(image, one, relative) for one in anchors], together, strict=True))


def assert_same(one: MetricDepth, other: MetricDepth) -> None:
    assert (one.status, one.space, one.stages, one.options) == (other.status, other.space, other.stages, other.options)
    np.testing.assert_array_equal(one.anchors.keep, other.anchors.keep)
    np.testing.assert_array_equal(one.anchors.reason, other.anchors.reason)
    assert other.depth_m.dtype == other.sigma_m.dtype == np.float32
    np.testing.assert_allclose(other.depth_m, one.depth_m, rtol=1e-3)
    np.testing.assert_allclose(other.sigma_m, one.sigma_m, rtol=1e-3)
    assert one.timings_ms.keys() == other.timings_ms.keys()
