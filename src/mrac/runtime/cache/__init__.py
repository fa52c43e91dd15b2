"""Predictions kept on disk, so that the same image through the same network is computed once.

`predict(foundation, image, default_store())` is all that a caller needs: the command line and the benchmarks share it.
`PredictionCache(folder, max_bytes)` is a store of one's own.
"""

from mrac.runtime.cache.location import default_store
from mrac.runtime.cache.prediction import CacheUse, predict, prediction_key
from mrac.runtime.cache.store import CacheInfo, PredictionCache

__all__ = ["CacheInfo", "CacheUse", "PredictionCache", "default_store", "predict", "prediction_key"]
