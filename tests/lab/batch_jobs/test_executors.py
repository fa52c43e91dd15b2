import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from mrac.batch_jobs.executors import LIVES, Resources, executor
from mrac.batch_jobs.job import Outcome
from mrac.batch_jobs.run import list_frames, run_job
from mrac.errors import ContractError, MissingExtra
from mrac.lab.studies.batch_jobs.runs import kill_one_worker, same_results
from tests.mrac.batch_jobs.frames import small_job, write_frames

NUM_FRAMES = 40


def has_results(out: Path) -> bool:
    return any(out.glob("*.npz"))


@contextmanager
def killing(name: str, number: int, may: Callable[[], bool]) -> Iterator[list[str]]:
    """Kills `number` workers of an executor, one after the other, from when `may` says so; yields its name for each.

    A thread, since on one core all frames may be done before the first outcome is seen.
    """
    killed: list[str] = []
    ended = threading.Event()

    def kill() -> None:
        while len(killed) < number and not ended.wait(0.01):
            if may() and kill_one_worker(name):
                killed.append(name)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        ended.set()
        killer.join()


@pytest.mark.filterwarnings("ignore")  # Ray's own, of files it leaves to the collector
def test_each_frame_is_done_once_and_to_the_bit_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    frames = list_frames([write_frames(tmp_path / "frames", NUM_FRAMES)])
    (tmp_path / "frames" / "f007.png").write_bytes(b"no image")
    run_job(small_job(tmp_path / "serial"), frames, "local", Resources(workers=1))
    for name in ("local", "ray"):
        seen, out = Counter[str](), tmp_path / name

        def note(outcome: Outcome, seen: Counter[str] = seen) -> None:
            seen[outcome.record.id] += 1

        with killing(name, 1, partial(has_results, out)) as killed:
            found = run_job(small_job(out), frames, name, Resources(workers=2), note)
        assert len(killed) == 1
        assert found.actions == {"computed": NUM_FRAMES - 1, "failed": 1}
        assert set(seen.values()) == {1}
        compared = same_results(tmp_path / "serial", tmp_path / name)
        assert compared == {
            "frames": NUM_FRAMES,
            "equal": NUM_FRAMES - 1,
            "recorded_more_than_once": 0,
            "missing": 0,
            "stray_files": 0,
            "manifests_equal": 1,
        }
    again = run_job(small_job(tmp_path / "ray"), frames, "local", Resources(workers=1))
    assert again.actions == {"kept": NUM_FRAMES - 1, "failed": 1}


@pytest.mark.filterwarnings("ignore")  # as above
def test_with_a_gpu_loading_and_committing_are_stages_of_their_own(tmp_path: Path) -> None:
    """A GPU that Ray is told of: what is computed does not depend on there being one."""
    ray = pytest.importorskip("ray")
    frames = list_frames([write_frames(tmp_path / "frames", 10)])
    (tmp_path / "frames" / "f007.png").write_bytes(b"no image")
    run_job(small_job(tmp_path / "serial"), frames, "local", Resources(workers=1))
    ray.init(address="local", num_cpus=3, num_gpus=1, include_dashboard=False, log_to_driver=False)
    found = run_job(small_job(tmp_path / "ray"), frames, "ray", Resources(workers=2, gpus=0.5))
    assert found.actions == {"computed": 9, "failed": 1}
    compared = same_results(tmp_path / "serial", tmp_path / "ray")
    assert (compared["equal"], compared["stray_files"], compared["manifests_equal"]) == (9, 0, 1)


def test_a_frame_over_which_every_worker_dies_is_a_failure(tmp_path: Path) -> None:
    frames = list_frames([write_frames(tmp_path / "frames", 1)])

    with killing("local", LIVES, lambda: True):
        found = run_job(small_job(tmp_path / "out"), frames, "local", Resources(workers=1))
    assert found.actions == {"failed": 1}
    assert "workers died" in found.failures[0].error


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    frames = list_frames([write_frames(tmp_path / "frames", 1)])
    with pytest.raises(MissingExtra, match=r"mrac-depth\[ray\]"):
        list(executor("ray")(small_job(tmp_path), frames, Resources(workers=1)))
    with pytest.raises(ContractError, match="one of local, ray"):
        executor("dask")
