"""Scenes for heads, without the pipeline."""

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.head.base import Scene
from mrac.space import Space
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
    trust = np.ones(z.size) if weight is None else np.asarray(weight, np.float64)
    samples = Samples(uv, z, x, space, True, trust)
    kept = samples.keep(trust >= 0.5, trust)
    fit = Ols()(kept)
    if line is not None:
        fit = FitResult(*line, np.zeros((2, 2)), 0.01, np.ones(len(kept), np.bool_))
    field = None if relative is None else relative.astype(np.float32)
    return Scene(np.full((*shape, 3), 128, np.uint8), field, samples, fit)
