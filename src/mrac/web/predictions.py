"""Cache of relative depth in memory: a picture's network runs once, however often its sliders are moved."""

from pathlib import Path

from mrac.runtime.cache import PredictionCache
from mrac.types import RelativeDepth
from mrac.web.bounded import BoundedStore


class MemoryPredictions(PredictionCache):
    """As `PredictionCache`, in memory: a `Calibrator` takes it as its cache, and gives the same results to the bit.

    Args:
        max_bytes: the least recently used predictions are dropped beyond it.
    """

    def __init__(self, max_bytes: int) -> None:
        super().__init__(Path(), max_bytes)
        self._store: BoundedStore[RelativeDepth] = BoundedStore(max_bytes)

    def __repr__(self) -> str:
        return f"MemoryPredictions(max_bytes={self.max_bytes})"

    def get(self, key: str) -> RelativeDepth | None:
        """The prediction stored under `key`."""
        return self._store.get(key)

    def put(self, key: str, relative: RelativeDepth) -> None:
        """Stores `relative` under `key`."""
        self._store.put(key, relative, relative.values.nbytes)
