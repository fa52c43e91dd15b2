"""How well readings agree with the network, for several guesses of where in the image they were taken.

The log likelihood of a relation between relative and metric depth, with Laplace residuals of log depth and a share of
wrong readings: unlike a rank correlation it stands 40 % of them, and a tilted floor does not hide a mirrored image.
"""

from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.relative import quantile_range, sample_bilinear
from mrac.space import POWERS, Space, to_space

_WRONG: Final = 0.4  # share of wrong readings that the likelihood expects
_WRONG_SPAN: Final = 4.0  # of log depth, over which they are spread
_SCALE: Final = (0.05, 0.5)  # of the residuals: no network is more exact, and none so bad says anything
# Errors of a network are shared by readings near each other, so more readings are no more proof than so many.
_INDEPENDENT: Final = 50
_ROUNDS: Final = 6  # of reweighting


def log_likelihoods(field: FloatArray, space: Space, uv_px: FloatArray, z_m: FloatArray) -> FloatArray:
    """How well each guess of the positions explains the readings, in nats.

    Args:
        field: (H, W) finite relative depth.
        space: of the field.
        uv_px: (T, K, 2) positions by T guesses; those outside the image take the value at its edge.
        z_m: (K,) readings, > 0, in any unit.

    Returns:
        (T,), counted as of at most 50 readings.
    """
    x = sample_bilinear(field, uv_px.reshape(-1, 2)).reshape(uv_px.shape[:2])
    return log_likelihoods_at(x, z_m, space)


def log_likelihoods_at(x_TK: FloatArray, z_m: FloatArray, space: Space, steepest: float | None = None) -> FloatArray:
    """As `log_likelihoods`, from the relative depth (T, K) that each guess gives the K >= 1 readings.

    `steepest` lets the relation between two log depths have any slope from 0 to so much, in place of 1.
    """
    K = x_TK.shape[1]
    if space != "log_depth":
        residual = np.log(z_m) - _relation(x_TK, z_m, space)
    elif steepest is None:
        residual = np.log(z_m) - x_TK
    else:
        residual = np.log(z_m) - _line(x_TK, np.broadcast_to(np.log(z_m), x_TK.shape), steepest)
    residual -= np.median(residual, axis=1, keepdims=True)
    size = np.abs(residual)
    scale = np.clip(np.median(size, axis=1, keepdims=True) / np.log(2.0), *_SCALE)
    density = (1.0 - _WRONG) / (2.0 * scale) * np.exp(-size / scale) + _WRONG / _WRONG_SPAN
    return np.asarray(np.log(density).sum(axis=1) * min(1.0, _INDEPENDENT / K))


def _relation(x: FloatArray, z_m: FloatArray, space: Space) -> FloatArray:
    """(T, K) log depth by a robust line in `space`, which cannot fall."""
    x = x / max(float(np.abs(x).max()), 1e-30)  # a field may have any scale
    line = _line(x, np.broadcast_to(to_space(z_m, space), x.shape), np.inf)
    low, high = quantile_range(z_m)
    bounds = np.sort(to_space([low / 2.0, high * 2.0], space))
    return np.asarray(np.log(np.clip(line, *bounds)) * POWERS[space])


def _line(x: FloatArray, y: FloatArray, steepest: float) -> FloatArray:
    """(T, K) values at x of a robust line through (x, y), its slope from 0 to `steepest`."""
    weight = np.ones_like(x)
    for _ in range(_ROUNDS):
        total = weight.sum(axis=1, keepdims=True)
        x0, y0 = (weight * x).sum(axis=1, keepdims=True) / total, (weight * y).sum(axis=1, keepdims=True) / total
        spread = (weight * (x - x0) ** 2).sum(axis=1, keepdims=True)
        slope = (weight * (x - x0) * (y - y0)).sum(axis=1, keepdims=True) / np.maximum(spread, 1e-30)
        line = y0 + np.clip(slope, 0.0, steepest) * (x - x0)
        off = np.abs(y - line)
        weight = 1.0 / (1.0 + (off / np.maximum(2.0 * np.median(off, axis=1, keepdims=True), 1e-30)) ** 2)
    return np.asarray(line)
