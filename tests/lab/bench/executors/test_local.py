import os
import signal
from collections import Counter
from multiprocessing import active_children
from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.executors import executor
from tests.lab.bench.executors.jobs import Rows, done_here, job_and_tasks, without_time


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_are_those_of_this_process(pack: Path, workers: int) -> None:
    job, tasks = job_and_tasks(pack)
    before = dict(os.environ)
    done: Rows = dict(executor("local")(job, tasks, workers))
    assert without_time(done) == without_time(done_here(job, tasks))
    assert {**os.environ, "PYTEST_CURRENT_TEST": ""} == {**before, "PYTEST_CURRENT_TEST": ""}


def test_the_tasks_of_a_killed_worker_are_done_by_another(pack: Path) -> None:
    job, tasks = job_and_tasks(pack)
    results = executor("local")(job, tasks, 2)
    done = [next(results)]
    for process in active_children():
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
    done += results
    assert Counter(task for task, _ in done) == Counter(tasks)
    assert without_time(dict(done)) == without_time(done_here(job, tasks))


def test_what_is_wrong_with_the_data_comes_back_as_it_is(pack: Path) -> None:
    job, tasks = job_and_tasks(pack)
    (pack / "manifest.csv").unlink()
    with pytest.raises(ContractError, match="holds none of"):
        list(executor("local")(job, tasks, 1))


def test_one_process_of_one_thread_is_what_all_agree_with(pack: Path) -> None:
    """Here, where networks may have more threads, the last bit may differ; no more than that does."""
    job, tasks = job_and_tasks(pack, ("vanilla",))
    alone = without_time(dict(executor("local")(job, tasks[:2], 1)))
    for task, rows in without_time(done_here(job, tasks[:2])).items():
        for row, other in zip(rows, alone[task], strict=True):
            assert row["anchors_hash"] == other["anchors_hash"]
            assert row["abs_rel"] == pytest.approx(other["abs_rel"], rel=1e-4)
