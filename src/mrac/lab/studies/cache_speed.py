"""What one cached prediction costs, in bytes and in milliseconds: `python -m mrac.lab.studies.cache_speed`.

The field stands in for a network's: the Motorcycle's disparity on a grid of 518 rows with 0.1 % of noise, enlarged to
the image, which is what Depth Anything's own path does. Every read is checked to be the field, bit for bit.
"""

import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image
from skimage.data import stereo_motorcycle

from mrac import RelativeDepth
from mrac.conventions import FloatArray
from mrac.foundation._cached import prediction_key
from mrac.relative import resize_field
from mrac.runtime.cache import PredictionCache

NETWORK_ROWS = 518


def field(shape: tuple[int, int]) -> RelativeDepth:
    disparity = np.nan_to_num(stereo_motorcycle()[2], nan=30.0, posinf=30.0).astype(np.float32)  # type: ignore[no-untyped-call]
    small = (NETWORK_ROWS, round(NETWORK_ROWS * shape[1] / shape[0]))
    smooth: FloatArray = np.asarray(Image.fromarray(disparity).resize(small[::-1], Image.Resampling.BICUBIC))
    noisy = smooth * (1.0 + 1e-3 * np.random.default_rng(0).standard_normal(small))
    return RelativeDepth(resize_field(noisy * 50.0, shape), "inverse_depth")


def best_ms(function: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    for shape in ((480, 640), (3000, 4000), (6000, 8334)):
        relative = field(shape)
        image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
        key = prediction_key("network", image)
        with tempfile.TemporaryDirectory() as folder:
            store = PredictionCache(folder)
            rounds = 10 if relative.values.size < 1e6 else 3
            hashing = best_ms(lambda image=image: prediction_key("network", image), rounds)  # type: ignore[misc]
            writing = best_ms(lambda s=store, k=key, r=relative: s.put(k, r), rounds)  # type: ignore[misc]
            reading = best_ms(lambda s=store, k=key: s.get(k), rounds)  # type: ignore[misc]
            found = store.get(key)
            assert found is not None
            assert found.values.tobytes() == relative.values.tobytes()
            stored, raw = store.info().num_bytes, relative.values.nbytes
        print(
            f"{shape[1]}×{shape[0]}: {raw / 1e6:.1f} MB as {stored / 1e6:.2f} MB ({stored / raw:.2f}); "
            f"key {hashing:.1f} ms, write {writing:.0f} ms, read {reading:.0f} ms"
        )


if __name__ == "__main__":
    main()
