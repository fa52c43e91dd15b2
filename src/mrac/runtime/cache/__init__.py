"""On-disk cache of relative depth maps, so that one image through one network is computed once.

`PredictionCache(folder, max_bytes)` is the store, `default_store()` the user's own. `mrac.foundation._cached.predict`
reads and fills it; the command line and the benchmarks share it.
"""

from mrac.runtime.cache.location import default_store
from mrac.runtime.cache.store import CacheInfo, PredictionCache

__all__ = ["CacheInfo", "PredictionCache", "default_store"]
