"""A model of a batch job on many workers: queues in a row, with measured times; what limits it, and from where on."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray


@dataclass(frozen=True)
class Station:
    """A step that every frame goes through.

    Attributes:
        name: of the step.
        seconds: mean time of a frame in it.
        servers: frames that can be in it at a time.
        spread: standard deviation over mean, of times drawn from a gamma distribution; 0: always the same.
    """

    name: str
    seconds: float
    servers: int
    spread: float = 0.3

    @property
    def limit_per_second(self) -> float:
        """Frames a second that it can pass on at most."""
        return self.servers / self.seconds if self.seconds > 0.0 else np.inf

    def times(self, number: int, rng: np.random.Generator) -> FloatArray:
        """Drawn times of `number` frames."""
        if not self.spread or not self.seconds:
            return np.full(number, self.seconds)
        shape = self.spread**-2
        return rng.gamma(shape, self.seconds / shape, number)


def frames_per_second(stations: Sequence[Station], number: int = 20_000, seed: int = 0) -> float:
    """Throughput of `number` simulated frames, first come first served, without the first and last tenth."""
    rng = np.random.default_rng(seed)
    ready = np.zeros(number)
    for station in stations:
        free = [0.0] * min(station.servers, number)
        done = np.empty(number)
        took = station.times(number, rng)
        for index in np.argsort(ready, kind="stable"):
            end = max(ready[index], heapq.heappop(free)) + took[index]
            heapq.heappush(free, end)
            done[index] = end
        ready = done
    ready = np.sort(ready)
    first, last = number // 10, number * 9 // 10
    return float((last - first) / (ready[last] - ready[first]))


def stations_of(
    stage_ms: dict[str, float], driver_ms: float, num_bytes: float, disk_bytes_per_s: float, cores: int
) -> list[Station]:
    """The job on `cores` cores of one cluster: what is handed out, the three stages on the cores, and one disk.

    Loading, calibrating and committing share the cores, so they are one station whose time is the sum.
    """
    work = sum(stage_ms[stage] for stage in ("load", "calibrate", "commit")) / 1e3
    return [
        Station("driver", driver_ms / 1e3, 1),
        Station("cores", work, cores),
        Station("disk", num_bytes / disk_bytes_per_s, 1),
    ]
