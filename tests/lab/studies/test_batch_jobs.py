from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac.lab.studies.batch_jobs.simulation import Station, frames_per_second, stations_of

SECONDS = st.floats(1e-3, 1.0)


@given(st.lists(st.tuples(SECONDS, st.integers(1, 20)), min_size=1, max_size=4))
def test_without_spread_the_slowest_station_sets_the_pace(given: list[tuple[float, int]]) -> None:
    stations = [Station("s", seconds, servers, spread=0.0) for seconds, servers in given]
    slowest = min(station.limit_per_second for station in stations)
    assert frames_per_second(stations, number=800) == pytest.approx(slowest, rel=0.06)


def test_spread_costs_nothing_in_the_long_run_but_never_gains() -> None:
    stations = [Station("a", 0.01, 4), Station("b", 0.02, 8), Station("c", 0.1, 38)]
    slowest = min(station.limit_per_second for station in stations)
    found = frames_per_second(stations)
    assert 0.93 * slowest < found < 1.02 * slowest
    assert frames_per_second([replace(stations[0], servers=1)]) == pytest.approx(100.0, rel=0.02)


def test_more_cores_help_until_the_driver_or_the_disk_is_the_limit() -> None:
    stage_ms = {"load": 1.0, "calibrate": 90.0, "commit": 9.0}
    found = [frames_per_second(stations_of(stage_ms, 1.0, 1e6, 4e8, cores), 4000) for cores in (1, 10, 1000)]
    assert found == pytest.approx([10.0, 100.0, 400.0], rel=0.05)
