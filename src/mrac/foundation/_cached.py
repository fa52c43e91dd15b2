"""Relative depth of an image from a foundation, read from the prediction cache where it is already stored."""

import hashlib
from typing import Literal

import numpy as np

from mrac.conventions import ImageArray
from mrac.foundation.base import Foundation
from mrac.runtime.cache import PredictionCache
from mrac.stage_results import checked_relative
from mrac.types import RelativeDepth

# `off`: no cache, or the foundation has no identity or returned None; `miss`: computed, since not stored yet.
CacheUse = Literal["off", "hit", "miss"]


def predict(
    foundation: Foundation, image: ImageArray, store: PredictionCache | None
) -> tuple[RelativeDepth | None, CacheUse]:
    """What `foundation(image)` returns, computed once per image content and foundation.

    Args:
        foundation: called only if the store has no entry; one whose `identity` is None is always called.
        image: (H, W, 3) uint8.
        store: None always calls the foundation.

    Returns:
        The relative depth, bit for bit the same on a hit as on the miss before, and whether the cache was used.
    """
    # A plug-in may be any callable: without an `identity` its predictions are not stored.
    identity: str | None = None if store is None else getattr(foundation, "identity", None)
    if store is None or identity is None:
        return _predicted(foundation, image), "off"
    key = prediction_key(identity, image)
    found = store.get(key)
    if found is not None:
        return found, "hit"
    relative = _predicted(foundation, image)
    if relative is None:
        return None, "off"
    store.put(key, relative)
    return relative, "miss"


def _predicted(foundation: Foundation, image: ImageArray) -> RelativeDepth | None:
    return checked_relative(foundation, foundation(image), (image.shape[0], image.shape[1]))


def prediction_key(identity: str, image: ImageArray) -> str:
    """SHA-256 in 64 hex digits of a foundation's `identity` and the content of an `image` (H, W, 3) uint8."""
    digest = hashlib.sha256(usedforsecurity=False)
    name = identity.encode()
    # The lengths come first: no identity can end where an image's shape begins.
    digest.update(f"mrac prediction 1\n{len(name)}\n{image.shape}\n{image.dtype.str}\n".encode())
    digest.update(name)
    digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()
