"""Which readings belong to which image: the nearest by the stamps of their headers, within a limit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Partners:
    """The readings of images.

    Attributes:
        index: (N, T) for each image and topic of readings the number of the nearest message, -1 for none within the
            limit.
        num_unused: (T,) messages of each topic that are no image's partner.
    """

    index: NDArray[np.int64]
    num_unused: tuple[int, ...]

    @property
    def has_any(self) -> NDArray[np.bool_]:
        """(N,) images that have readings of at least one topic."""
        return np.asarray((self.index >= 0).any(axis=1))


def partners(images_ns: NDArray[np.int64], readings_ns: list[NDArray[np.int64]], slop_ns: int) -> Partners:
    """Takes for each image the nearest message of each topic; of two equally near, the earlier.

    A message may be the partner of several images, as of a slow sensor beside a fast camera.

    Args:
        images_ns: (N,) stamps of the images, in any order.
        readings_ns: for each topic, the (M,) stamps of its messages, in any order.
        slop_ns: the largest difference.
    """
    columns = [_nearest(images_ns, stamps, slop_ns) for stamps in readings_ns]
    unused = tuple(
        int(stamps.size - np.unique(column[column >= 0]).size)
        for stamps, column in zip(readings_ns, columns, strict=True)
    )
    index = np.stack(columns, axis=1) if columns else np.empty((images_ns.size, 0), np.int64)
    return Partners(index, unused)


def _nearest(wanted_ns: NDArray[np.int64], stamps_ns: NDArray[np.int64], slop_ns: int) -> NDArray[np.int64]:
    if not stamps_ns.size:
        return np.full(wanted_ns.size, -1, np.int64)
    order = np.argsort(stamps_ns, kind="stable")
    stamps = stamps_ns[order]
    after = np.clip(np.searchsorted(stamps, wanted_ns), 0, stamps.size - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(np.abs(stamps[before] - wanted_ns) <= np.abs(stamps[after] - wanted_ns), before, after)
    return np.where(np.abs(stamps[nearer] - wanted_ns) <= slop_ns, order[nearer], -1).astype(np.int64)
