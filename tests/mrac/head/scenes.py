"""Inputs for heads, made without the pipeline."""

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.head.base import Scene
from mrac.space import Space, from_space
from mrac.types import FitResult, Samples


def scene(
    relative: FloatArray | None,
    uv_px: ArrayLike,
    z_m: ArrayLike,
    space: Space = "inverse_depth",
    *,
    shape: tuple[int, int] = (40, 60),
    line: tuple[float, float] | None = None,
    weight: ArrayLike | None = None,
) -> Scene:
    """Readings at whole pixels (K, 2) of a grey image; the fit is least squares, or the line (scale, shift) given."""
    uv, z = np.asarray(uv_px, np.float64).reshape(-1, 2), np.asarray(z_m, np.float64)
    shape = shape if relative is None else (relative.shape[0], relative.shape[1])
    x = None if relative is None else relative[uv[:, 1].astype(int), uv[:, 0].astype(int)].astype(np.float64)
    weights = np.ones(z.size) if weight is None else np.asarray(weight, np.float64)
    samples = Samples(uv, z, x, space, True, weights)
    kept = samples.keep(weights >= 0.5, weights)
    fit = Ols()(kept)
    if line is not None:
        fit = FitResult(*line, np.zeros((2, 2)), 0.01, np.ones(len(kept), np.bool_))
    field = None if relative is None else relative.astype(np.float32)
    return Scene(np.full((*shape, 3), 128, np.uint8), field, samples, fit)


def noisy_scene(size: tuple[int, int], num_anchors: int, space: Space = "depth", seed: int = 0) -> Scene:
    """A relative field (H, W) and readings that a line explains only roughly, each at a pixel of its own."""
    rng = np.random.default_rng(seed)
    H, W = size
    relative = (0.5 + rng.random(size) + np.linspace(0, 2, W)).astype(np.float32)
    pixel = rng.choice(H * W, num_anchors, replace=False)
    uv_px = np.stack([pixel % W, pixel // W], axis=1).astype(np.float64)
    x = relative.ravel()[pixel].astype(np.float64)
    line = {"depth": 1.0 + 2.0 * x, "inverse_depth": 0.2 + 0.1 * x, "log_depth": 0.3 + 0.5 * x}[space]
    z_m = from_space(line, space) * np.exp(rng.normal(0, 0.1, num_anchors))
    image = rng.integers(0, 256, (H, W, 3), dtype=np.uint8)
    samples = Samples(uv_px, z_m, x, space, False, np.ones(num_anchors))
    return Scene(image, relative, samples, Ols()(samples))
