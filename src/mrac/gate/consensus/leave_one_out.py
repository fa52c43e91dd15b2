"""What other readings say at the place of each, in closed form: all the others, or all that are not of its crowd."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gp.linear_algebra import invert
from mrac.gp.posterior import FINE, FINE_VAR

# In length scales of position: 0.15 of the image's shorter side. Where readings lie much denser than elsewhere they are
# no independent witnesses: a lidar that sees past one edge is wrong at all places along it.
_CROWD_RADIUS: Final = 0.094
_CROWDED: Final = (2.0, 2.0)  # times as many as even spacing would give, and so many more
_MOST: Final = 16  # of a crowd that are left out, the nearest

Crowds = list[tuple[int, NDArray[np.intp]]]
"""Readings that lie in a crowd, each with the members around it."""


def covariance(features_KF: FloatArray) -> FloatArray:
    """(K, K) of the smooth error, in units of the amplitude²: Matérn 3/2 at the two scales of the kriging head."""
    distance = distances(features_KF)
    return np.asarray(_matern(distance) + FINE_VAR * _matern(FINE * distance))


def crowds(places_K2: FloatArray) -> Crowds:
    """Who lies where readings are crowded, at (K, 2) places in length scales."""
    distance = distances(places_K2)
    near = distance < _CROWD_RADIUS
    area = max(float(np.prod(np.ptp(places_K2, axis=0))), 1e-3)
    times, more = _CROWDED
    limit = times * len(near) * math.pi * _CROWD_RADIUS**2 / area + more
    count = near.sum(axis=1)
    crowded = np.flatnonzero(count > limit)
    order = np.argsort(distance[crowded], axis=1, kind="stable")
    return [(int(i), nearest[: min(int(count[i]), _MOST)]) for i, nearest in zip(crowded, order, strict=True)]


def without_crowd(total_SKK: FloatArray, error_SK: FloatArray, left_out: Crowds) -> tuple[FloatArray, FloatArray]:
    """(S, K) error of each reading against the field of the others, and its variance, both with its own noise.

    The covariances `total_SKK` are overwritten.

    From the inverse of the covariance (Rasmussen & Williams 2006, eqs. 5.10–5.12): a block of it, inverted, is the
    covariance of that block given the rest.
    """
    inverse = invert(total_SKK)
    var = 1.0 / np.diagonal(inverse, axis1=1, axis2=2)
    weights = (inverse @ error_SK[:, :, None])[:, :, 0]
    residual = weights * var
    for i, members in left_out:
        block = np.linalg.inv(inverse[:, members[:, None], members])
        own = members.tolist().index(i)
        residual[:, i] = (block[:, own] * weights[:, members]).sum(axis=1)
        var[:, i] = block[:, own, own]
    return residual, var


def distances(points_KF: FloatArray) -> FloatArray:
    """(K, K) between (K, F) points."""
    square = (points_KF * points_KF).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(square[:, None] + square[None] - 2.0 * points_KF @ points_KF.T, 0.0)))


def _matern(distance: FloatArray) -> FloatArray:
    s = math.sqrt(3.0) * distance
    return np.asarray((1.0 + s) * np.exp(-s))
