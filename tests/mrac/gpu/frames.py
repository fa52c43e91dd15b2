"""Frames for the tests of the GPU path, and the comparison with the reference."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.utils._python_dispatch import TorchDispatchMode

from mrac import Anchors, Calibrator
from mrac.foundation.embedded import Embedded
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gpu import GpuCalibrator

SHAPE = (60, 80)
TOLERANCE = 1e-4  # of depth, deviation as a share of depth, probability and weight: what is promised


def photograph(seed: int, shape: tuple[int, int] = SHAPE) -> NDArray[np.uint8]:
    """Blocks of colour, with noise: there are edges, and regions."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    large = np.asarray(Image.fromarray(blocks).resize(shape[::-1], Image.Resampling.NEAREST), np.float64)
    return np.clip(large + rng.normal(0.0, 6.0, large.shape), 0, 255).astype(np.uint8)


def readings(image: NDArray[np.uint8], num: int, seed: int, kind: str = "near") -> Anchors:
    """Readings of three times the network's own depth, 1 % noise; some of them wrong, or all."""
    rng, (H, W) = np.random.default_rng(seed), image.shape[:2]
    field = Embedded()(image).values
    pixel = rng.choice(H * W, num, replace=False)
    uv = np.stack([pixel % W, pixel // W], axis=1).astype(np.float64)
    if kind == "cluster":
        uv[: num // 2] = np.clip(rng.normal([0.4 * W, 0.5 * H], 2.5, (num // 2, 2)), 0, [W - 1, H - 1]).round()
    uv = np.unique(uv, axis=0)
    u, v = uv.astype(int).T
    z = 3.0 * np.exp(field[v, u]) * np.exp(rng.normal(0.0, 0.01, len(uv)))
    if kind == "noise":
        z = rng.uniform(1.0, 9.0, len(uv))
    elif kind == "sentinel":
        z[::4] = 10.0
    else:
        z[::4] *= rng.uniform(0.2, 0.6, z[::4].size)
    return Anchors(uv + rng.uniform(-0.3, 0.3, uv.shape), z)


def assert_as_reference(
    calibrator: GpuCalibrator, images: list[NDArray[np.uint8]], anchors: list[Anchors]
) -> list[str]:
    """Compares all frames, and gives the reference's statuses."""
    reference = Calibrator("default", foundation="embedded")
    statuses = []
    for image, given, found in zip(images, anchors, calibrator.frames(images, anchors), strict=True):
        expected = reference(image, given)
        statuses.append(expected.status)
        np.testing.assert_allclose(found.depth_m.numpy(), expected.depth_m, rtol=TOLERANCE)
        # Near a reading the process is all but known: of what is left single precision gives three digits.
        np.testing.assert_allclose(found.sigma_m.numpy(), expected.sigma_m, rtol=1e-2)
        off = np.abs(found.sigma_m.numpy() - expected.sigma_m) / expected.depth_m
        assert off.max() < TOLERANCE
        outlier = expected.anchors.outlier_probability
        np.testing.assert_allclose(found.outlier_probability.numpy(), outlier, atol=TOLERANCE)
        np.testing.assert_allclose(found.weight.numpy(), expected.anchors.weight, atol=TOLERANCE)
        # Where the probability is as near to the threshold as to the reference's, the verdict may flip.
        sure = np.abs(outlier - ConsensusLearned().reject_from) > TOLERANCE
        np.testing.assert_array_equal(found.keep.numpy()[sure], expected.anchors.keep[sure])
        assert bool(found.use_relative) == (expected.status not in ("foundation_disagrees", "constant_relative_depth"))
    return statuses


def inputs(anchors: Anchors, image: NDArray[np.uint8], size: int) -> tuple[torch.Tensor, ...]:
    """One frame as the raw call takes it, padded to `size` readings with numbers that must not be read."""
    num = len(anchors.z_m)
    order = np.lexsort(np.round(anchors.uv_px).T)
    uv_px, z_m = torch.full((1, size, 2), torch.nan).double(), torch.full((1, size), torch.nan).double()
    uv_px[0, :num], z_m[0, :num] = torch.tensor(anchors.uv_px[order]), torch.tensor(anchors.z_m[order])
    return torch.from_numpy(image)[None], uv_px, z_m, torch.tensor([num])


def operations(run: Callable[[], object]) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []

    class Listed(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            out = func(*args, **(kwargs or {}))
            shape = str(tuple(out.shape)) if isinstance(out, torch.Tensor) else ""
            seen.append((str(func), shape))
            return out

    with Listed():  # type: ignore[no-untyped-call]
        run()
    return seen
