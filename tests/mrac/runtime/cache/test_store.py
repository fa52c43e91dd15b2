import errno
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError, RelativeDepth
from mrac.runtime.cache import PredictionCache

KEYS = [f"{i:064x}" for i in range(8)]
NOISE = RelativeDepth(np.random.default_rng(0).random((40, 50), np.float32), "depth")

# Writes one field and stops for good at the point where everything is on its way but nothing is in its place.
WRITER = """
import os, sys
import numpy as np
from mrac import RelativeDepth
from mrac.runtime.cache import PredictionCache

def stop(number):
    print("written", flush=True)
    sys.stdin.read()

if sys.argv[2] == "stop":
    os.fsync = stop
store = PredictionCache(sys.argv[1])
for _ in range(20):
    store.put("0" * 64, RelativeDepth(np.full((300, 400), 7.0), "depth"))
print("done", flush=True)
"""


def writer(folder: Path, how: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def size_of_one(folder: Path) -> int:
    store = PredictionCache(folder / "one")
    store.put(KEYS[0], NOISE)
    return store.info().num_bytes


def used_in_order(store: PredictionCache, *keys: str) -> None:
    """Sets the times of use a second apart, without waiting for them."""
    for second, key in enumerate(keys):
        os.utime(store.folder / f"{key}.rel", (1_000_000_000 + second, 1_000_000_000 + second))


def test_gives_back_what_it_was_given(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path / "made" / "when" / "needed")
    assert store.get(KEYS[0]) is None
    assert store.info().num_files == 0
    store.put(KEYS[0], NOISE)
    found = PredictionCache(store.folder).get(KEYS[0])
    assert found is not None
    assert found.space == "depth"
    np.testing.assert_array_equal(found.values, NOISE.values)
    assert store.get(KEYS[1]) is None
    assert store.info()[1:3] == (1, (store.folder / f"{KEYS[0]}.rel").stat().st_size)


def test_a_killed_writer_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path)
    with writer(tmp_path, "stop") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.kill()
    (part,) = tmp_path.iterdir()
    assert part.suffix == ".part"
    assert store.get("0" * 64) is None
    store.put(KEYS[1], NOISE)
    assert part.exists(), "a writer may still be at work on it"
    os.utime(part, (1_000_000_000, 1_000_000_000))
    store.put(KEYS[1], NOISE)
    assert not part.exists()


def test_two_processes_write_the_same_key(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path)
    with writer(tmp_path, "go") as first, writer(tmp_path, "go") as second:
        seen = 0
        while first.poll() is None or second.poll() is None:
            found = store.get("0" * 64)
            if found is not None:
                seen += 1
                assert (found.values == 7.0).all()
    assert (first.returncode, second.returncode) == (0, 0)
    assert seen, "the reader ran while they wrote"
    assert [path.name for path in tmp_path.iterdir()] == ["0" * 64 + ".rel"]


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path / "c", max_bytes=3 * size_of_one(tmp_path))
    for key in KEYS[:3]:
        store.put(key, NOISE)
    used_in_order(store, *KEYS[:3])
    assert store.get(KEYS[0]) is not None, "used again: now the youngest"
    store.put(KEYS[3], NOISE)
    assert [store.get(key) is not None for key in KEYS[:4]] == [True, False, True, True]
    assert store.info().num_bytes <= store.max_bytes


def test_a_smaller_bound_is_met_at_the_next_write(tmp_path: Path) -> None:
    one = size_of_one(tmp_path)
    store = PredictionCache(tmp_path / "c")
    for key in KEYS[:6]:
        store.put(key, NOISE)
    used_in_order(store, *KEYS[:6])
    PredictionCache(tmp_path / "c", max_bytes=2 * one).put(KEYS[6], NOISE)
    assert [store.get(key) is not None for key in KEYS[:7]] == [False] * 5 + [True, True]


def test_what_is_larger_than_the_cache_does_not_empty_it(tmp_path: Path) -> None:
    one = size_of_one(tmp_path)
    store = PredictionCache(tmp_path / "c", max_bytes=one)
    store.put(KEYS[0], NOISE)
    store.put(KEYS[1], RelativeDepth(np.random.default_rng(1).random((90, 90)), "depth"))
    assert store.get(KEYS[0]) is not None
    assert store.get(KEYS[1]) is None
    PredictionCache(tmp_path / "off", max_bytes=0).put(KEYS[0], NOISE)
    assert not (tmp_path / "off").exists()


@pytest.mark.parametrize("damage", [b"", b"mrac-rel-1", b"nonsense" * 100])
def test_a_damaged_file_is_a_miss_and_is_replaced(damage: bytes, tmp_path: Path) -> None:
    store = PredictionCache(tmp_path)
    (tmp_path / f"{KEYS[0]}.rel").write_bytes(damage)
    assert store.get(KEYS[0]) is None
    store.put(KEYS[0], NOISE)
    assert store.get(KEYS[0]) is not None


def test_clear_deletes_its_own_files_only(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path)
    store.put(KEYS[0], NOISE)
    (tmp_path / "holiday.jpg").write_bytes(b"dear")
    (tmp_path / f"{KEYS[1]}.00aa00aa.part").write_bytes(b"half")
    assert store.clear() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]
    assert store.clear() == 0


def warned_once(caplog: pytest.LogCaptureFixture) -> bool:
    return [record.levelno for record in caplog.records if record.name == "mrac.runtime.cache"] == [logging.WARNING]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_disk_that_takes_nothing_is_a_warning(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    store = PredictionCache(tmp_path)
    store.put(KEYS[0], NOISE)
    store.put(KEYS[1], NOISE)
    assert warned_once(caplog)
    assert os.strerror(number) in caplog.text
    assert list(tmp_path.iterdir()) == [], "nothing half-written stays"


def test_a_folder_that_is_a_file_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    store = PredictionCache(tmp_path / "file")
    assert store.get(KEYS[0]) is None
    store.put(KEYS[0], NOISE)
    assert warned_once(caplog)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to any folder")
def test_a_read_only_folder_still_serves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = PredictionCache(tmp_path)
    store.put(KEYS[0], NOISE)
    tmp_path.chmod(0o500)
    try:
        store.put(KEYS[1], NOISE)
        assert store.get(KEYS[0]) is not None
        assert store.get(KEYS[1]) is None
    finally:
        tmp_path.chmod(0o700)
    assert warned_once(caplog)


def test_a_negative_bound_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="max_bytes = -1"):
        PredictionCache(tmp_path, max_bytes=-1)


def test_a_folder_in_the_place_of_a_file_costs_a_warning_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = PredictionCache(tmp_path)
    (tmp_path / f"{KEYS[0]}.rel").mkdir()
    store.put(KEYS[0], NOISE)
    assert store.get(KEYS[0]) is None
    assert len(caplog.records) == 1
