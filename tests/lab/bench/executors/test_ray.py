import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrac.errors import ContractError, MissingExtra
from mrac.lab.bench.executors import executor
from tests.lab.bench.executors.jobs import Rows, job_and_tasks, without_time

# A network whose sums depend on the number of threads, and no network at all.
METHODS = ("vanilla", "default;foundation=none")


def test_without_ray_the_extra_is_named(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    job, tasks = job_and_tasks(pack)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[ray\]"):
        list(executor("ray")(job, tasks, 1))


@pytest.mark.filterwarnings("ignore")  # Ray's own, of files it leaves to the collector
def test_local_and_ray_agree_to_the_bit_though_a_worker_is_killed(pack: Path) -> None:
    pytest.importorskip("ray")
    job, tasks = job_and_tasks(pack, METHODS)
    local: Rows = dict(executor("local")(job, tasks, 1))
    results = executor("ray")(job, tasks, 2)
    done = [next(results)]
    killed = _kill_one_worker()
    done += results
    assert killed
    assert Counter(task for task, _ in done) == Counter(tasks)
    assert without_time(dict(done)) == without_time(local)

    (pack / "manifest.csv").unlink()
    with pytest.raises(ContractError, match=r"^datasets: .* holds none of"):
        list(executor("ray")(job, tasks[:1], 1))


def _kill_one_worker() -> bool:
    for _ in range(1000):  # between two tasks it has another name
        for pid in _children(os.getpid()):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_perform"):
                os.kill(pid, signal.SIGKILL)
                return True
    return False


def _children(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from _children(child)
