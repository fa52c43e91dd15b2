"""Least-recently-used store in memory with a bound on its bytes."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_V = TypeVar("_V")


class BoundedStore(Generic[_V]):
    """Values by key; the least recently used ones are dropped beyond the bound. Threads may share it.

    Args:
        max_bytes: of all values together; one that is larger alone is kept until the next comes.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._num_bytes = 0
        self._values: OrderedDict[str, tuple[_V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> _V | None:
        """The value, from now on the most recently used; None if there is none, or no more."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: str, value: _V, num_bytes: int) -> None:
        """Stores a value of so many bytes, in place of an older one of that key."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = (value, num_bytes)
            self._num_bytes += num_bytes - before
            while len(self._values) > 1 and self._num_bytes > self.max_bytes:
                _, (_, dropped) = self._values.popitem(last=False)
                self._num_bytes -= dropped

    def __len__(self) -> int:
        return len(self._values)

    @property
    def num_bytes(self) -> int:
        """Of all values."""
        return self._num_bytes
