"""What is drawn depends on the image and the seed alone, not on process, order or machine; a hash proves it."""

import hashlib
import json
import operator

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import as_numbers


def generator(dataset: str, image_id: str, seed: int, *purpose: str) -> np.random.Generator:
    """The random numbers of one image.

    Args:
        dataset: `Dataset.seed_name`.
        image_id: `Sample.id`.
        seed: of the run, any whole number.
        purpose: what they are for, such as "anchors", or "outliers" and a family: draws for different purposes are
            independent, so that anchors stay where they are whatever is done to them.
    """
    # JSON, since joined text would take ("a", "bc") for ("ab", "c"); SHA-256, since Python's hash changes by process.
    text = json.dumps([dataset, image_id, operator.index(seed), *purpose])
    words = np.frombuffer(hashlib.sha256(text.encode()).digest(), "<u4")
    return np.random.default_rng(np.random.SeedSequence([int(word) for word in words]))


def anchors_hash(uv_px: ArrayLike, z_m: ArrayLike) -> str:
    """SHA-256, in hex, of K anchors: equal if and only if positions, readings and their order are.

    Stored with every result, it shows that all methods saw the same anchors, also where another version of numpy drew
    others from the same seed.

    Args:
        uv_px: (K, 2) positions.
        z_m: (K,) readings; a NaN is a NaN and -0 is 0, whatever their bits.
    """
    digest = hashlib.sha256()
    for name, values in (("uv_px", uv_px), ("z_m", z_m)):
        numbers = as_numbers(values, f"anchors_hash: {name}")
        numbers = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
        digest.update(json.dumps([name, *numbers.shape]).encode())
        digest.update(numbers.astype("<f8").tobytes())
    return digest.hexdigest()
