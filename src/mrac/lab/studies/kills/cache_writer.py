"""Fills a cache of predictions, the resumable way: `python -m mrac.lab.studies.kills.cache_writer FOLDER NUM SEED`.

Prints how many fields it had to make. Several may share a folder; each goes through the keys in an order of its own.
"""

import hashlib
import random
import sys
from pathlib import Path

import numpy as np

from mrac.runtime.cache import PredictionCache
from mrac.types import RelativeDepth

SHAPE = (240, 320)


def key(number: int) -> str:
    return hashlib.sha256(f"kills {number}".encode()).hexdigest()


def prediction(number: int) -> RelativeDepth:
    """A field that differs from every other, too rough to compress: its file takes a while to write."""
    return RelativeDepth(np.random.default_rng(number).random(SHAPE, np.float32) + 0.5, "inverse_depth")


def main(folder: Path, num: int, seed: int) -> None:
    store, made = PredictionCache(folder), 0
    numbers = list(range(num))
    random.Random(seed).shuffle(numbers)
    for number in numbers:
        if store.get(key(number)) is None:
            store.put(key(number), prediction(number))
            made += 1
    print(f"{made} made")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
