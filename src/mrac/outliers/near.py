"""Multipath and specular returns: readings pulled towards the sensor, z · U(0.2, 0.6), never under 0.1 m."""

import numpy as np

from mrac.conventions import BoolArray, FloatArray


def corrupt(z_m: FloatArray, fraction: float, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """Corrupts round(fraction · K) of K readings.

    Args:
        z_m: (K,) true readings, metres.
        fraction: in [0, 1].
        rng: draws which ones, and by how much.

    Returns:
        (K,) readings and (K,) which of them are wrong.
    """
    wrong = np.zeros(z_m.size, np.bool_)
    wrong[rng.choice(z_m.size, round(fraction * z_m.size), replace=False)] = True
    pulled = np.maximum(z_m * rng.uniform(0.2, 0.6, z_m.size), 0.1)
    return np.where(wrong, pulled, z_m), wrong
