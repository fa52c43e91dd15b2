import threading

import pytest

from mrac.runtime.parallel import BAND_ROWS, for_each_band, row_bands


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (5, 64), (0, 64), (0, 65), (7, 300)])
def test_bands_cover_all_rows_once_and_end_with_them(first: int, last: int) -> None:
    bands = list(row_bands(first, last))
    assert [row for band in bands for row in range(band.start, band.stop)] == list(range(first, last))
    assert all(band.stop - band.start <= BAND_ROWS for band in bands)


@pytest.mark.parametrize("num_rows", [0, 1, 3, 65, 1000])
def test_every_row_is_worked_on_once(num_rows: int) -> None:
    rows, lock = list[int](), threading.Lock()

    def work(band: slice) -> None:
        assert band.stop - band.start <= 16
        with lock:
            rows.extend(range(band.start, band.stop))

    for_each_band(num_rows, work, rows=16)
    assert sorted(rows) == list(range(num_rows))
