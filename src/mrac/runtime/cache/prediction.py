"""Relative depth for an image, from the cache where it is known, from the foundation where it is not."""

import hashlib
from typing import Literal

import numpy as np

from mrac.conventions import ImageArray
from mrac.foundation.base import Foundation
from mrac.runtime.cache.store import PredictionCache
from mrac.types import RelativeDepth

# `off`: no cache, or a foundation without an identity or an opinion; `miss`: computed, since not yet there.
CacheUse = Literal["off", "hit", "miss"]


def predict(
    foundation: Foundation, image: ImageArray, store: PredictionCache | None
) -> tuple[RelativeDepth | None, CacheUse]:
    """What `foundation(image)` gives, computed once per image content and foundation.

    Args:
        foundation: asked only where the store has nothing; one whose `identity` is None is always asked.
        image: (H, W, 3) uint8.
        store: None asks the foundation.

    Returns:
        The field, bit for bit the same on a hit as on the miss before, and what the cache had to do with it.
    """
    # A plug-in may be any callable: one that does not say what it is, is not kept.
    identity: str | None = None if store is None else getattr(foundation, "identity", None)
    if store is None or identity is None:
        return foundation(image), "off"
    key = prediction_key(identity, image)
    found = store.get(key)
    if found is not None:
        return found, "hit"
    relative = foundation(image)
    if relative is None:
        return None, "off"
    store.put(key, relative)
    return relative, "miss"


def prediction_key(identity: str, image: ImageArray) -> str:
    """64 hex digits that name the prediction of a foundation of `identity` for an `image` of that content."""
    digest = hashlib.sha256(usedforsecurity=False)
    name = identity.encode()
    # The lengths come first: no identity can end where an image's shape begins.
    digest.update(f"mrac prediction 1\n{len(name)}\n{image.shape}\n{image.dtype.str}\n".encode())
    digest.update(name)
    digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()
