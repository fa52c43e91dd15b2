import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mrac.errors import ContractError
from mrac.lab.bench import run as run_module
from mrac.lab.bench.executors import Executor
from mrac.lab.bench.pack import pack_run
from mrac.lab.bench.run import BenchOptions, Outcome, run_bench
from mrac.lab.bench.store import finished, read_run
from mrac.lab.bench.work import Job, Task, perform
from tests.lab.bench.conftest import METHODS

Rows = list[dict[str, Any]]


@pytest.fixture
def protocol(tmp_path: Path) -> str:
    grid = f'sets = ["room", "street"]\nmethods = {json.dumps(METHODS[:2])}\nfamilies = ["near"]\nfractions = [0, 0.2]'
    (tmp_path / "made.toml").write_text(f'name = "made"\n[[grid]]\n{grid}\n')
    return str(tmp_path / "made.toml")


@pytest.fixture
def tasks_done() -> list[Task]:
    """The tasks that were performed."""
    return []


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tasks_done: list[Task]) -> Executor:
    """Performs tasks in this process: workers have tests of their own."""

    def execute(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Rows]]:
        for task in reversed(tasks):  # in no order that anything may rely on
            tasks_done.append(task)
            yield task, perform(job, task)

    monkeypatch.setattr(run_module, "executor", lambda name: execute)
    return execute


@pytest.fixture
def bench(protocol: str, pack: Path, tmp_path: Path, here: Executor) -> Callable[..., tuple[Outcome, str]]:
    def bench(**options: Any) -> tuple[Outcome, str]:
        said = io.StringIO()
        given: dict[str, Any] = {"protocol": protocol, "data": pack, "out": tmp_path / "run", **options}
        return run_bench(BenchOptions(**given), Console(file=said, width=200)), said.getvalue()

    return bench


def table(run: Path) -> Rows:
    rows: Rows = read_run(run).drop_columns(["time_ms"]).to_pylist()
    return rows


def test_every_cell_is_there_with_a_row_per_image_in_order(
    bench: Callable[..., tuple[Outcome, str]], tmp_path: Path
) -> None:
    outcome, _ = bench()
    assert (outcome.cells, outcome.computed, outcome.failures) == (8, 8, 0)
    rows = table(tmp_path / "run")
    assert len(rows) == 4 * 3 + 4 * 2
    assert [row["image"] for row in rows[:3]] == ["0000", "0001", "0002"]
    assert not (tmp_path / "run" / "journal.jsonl").exists()


def test_a_packed_run_goes_on(
    bench: Callable[..., tuple[Outcome, str]], tasks_done: list[Task], tmp_path: Path
) -> None:
    bench(chosen={"sets": ["room"]})
    pack_run(tmp_path / "run", tmp_path / "packed")
    tasks_done.clear()
    outcome, _ = bench(out=tmp_path / "packed")
    assert (outcome.cells, outcome.computed) == (8, 4)
    assert {task.set_name for task in tasks_done} == {"street"}
    assert read_run(tmp_path / "packed").num_rows == 4 * 3 + 4 * 2


def test_what_is_finished_is_not_done_again(
    bench: Callable[..., tuple[Outcome, str]], tasks_done: list[Task], tmp_path: Path
) -> None:
    bench(chosen={"methods": [METHODS[0]]})
    tasks_done.clear()
    outcome, _ = bench()
    assert (outcome.cells, outcome.computed) == (8, 4)
    assert {cell.method for task in tasks_done for cell in task.cells} == {METHODS[1]}
    tasks_done.clear()
    outcome, _ = bench()
    assert (outcome.cells, outcome.computed, tasks_done) == (8, 0, [])
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert len(about["earlier"]) == 2


def test_a_run_in_pieces_is_the_run_in_one(
    bench: Callable[..., tuple[Outcome, str]], here: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench(out=tmp_path / "whole")

    def stopping(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Rows]]:
        small = [Task(t.set_name, (image,), t.cells[i::2]) for t in tasks for image in t.images for i in (0, 1)]
        yield from list(here(job, [task for task in small if task.cells][:3], workers))
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "executor", lambda name: stopping)
    before: set[object] = set()
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            bench(out=tmp_path / "pieces")
        now = finished(tmp_path / "pieces")
        assert before <= now
        before = set(now)
    assert before
    monkeypatch.setattr(run_module, "executor", lambda name: here)
    bench(out=tmp_path / "pieces")
    assert table(tmp_path / "pieces") == table(tmp_path / "whole")


def test_rows_of_cells_that_were_not_asked_for_again_are_kept(
    bench: Callable[..., tuple[Outcome, str]],
    here: Executor,
    monkeypatch: pytest.MonkeyPatch,
    tasks_done: list[Task],
) -> None:
    def one_image(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Rows]]:
        yield from here(job, [Task(tasks[0].set_name, tasks[0].images[:1], tasks[0].cells)], workers)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "executor", lambda name: one_image)
    with pytest.raises(KeyboardInterrupt):
        bench(chosen={"methods": [METHODS[0]], "sets": ["room"]})
    monkeypatch.setattr(run_module, "executor", lambda name: here)
    bench(chosen={"methods": [METHODS[1]], "sets": ["room"]})
    tasks_done.clear()
    bench(chosen={"methods": [METHODS[0]], "sets": ["room"]})
    assert {image for task in tasks_done for image in task.images} == {1, 2}


def test_the_limit_is_of_the_run(bench: Callable[..., tuple[Outcome, str]], tmp_path: Path) -> None:
    bench(limit=1)
    assert {row["image"] for row in table(tmp_path / "run")} == {"0000"}
    with pytest.raises(ContractError, match="another --out is needed"):
        bench()


def test_missing_sets_are_named(bench: Callable[..., tuple[Outcome, str]], protocol: str, tmp_path: Path) -> None:
    Path(protocol).write_text(Path(protocol).read_text().replace('"street"', '"nyu"'))
    outcome, said = bench()
    assert outcome.cells == 4
    assert said.splitlines()[:2] == [
        "not in the data, and left out: nyu",
        "in the data, but not in the protocol: street; --sets takes them",
    ]
    with pytest.raises(ContractError, match="no set nyu in the data, which has room, street"):
        bench(chosen={"sets": ["nyu", "room"]})


def test_a_folder_of_other_sets_is_run_whole(
    bench: Callable[..., tuple[Outcome, str]], protocol: str, tmp_path: Path
) -> None:
    Path(protocol).write_text(Path(protocol).read_text().replace('"room", "street"', '"nyu"'))
    outcome, said = bench()
    assert outcome.cells == 8
    assert said.splitlines()[0] == "none of the protocol's sets is there (nyu): all of room, street are run"


def test_a_slip_in_a_method_is_named_before_anything_runs(
    bench: Callable[..., tuple[Outcome, str]], tasks_done: list[Task], tmp_path: Path
) -> None:
    with pytest.raises(ContractError, match="no option 'kapa'"):
        bench(chosen={"methods": [METHODS[0], "mrac;gate=theil_sen_mad:kapa=3"]})
    assert not tasks_done
    assert not (tmp_path / "run").exists()


def test_failures_are_counted_and_are_rows(bench: Callable[..., tuple[Outcome, str]], pack: Path) -> None:
    (pack / "room" / "0001.png").write_bytes(b"no picture")
    outcome, _ = bench(chosen={"sets": ["room"]})
    assert (outcome.computed, outcome.failures) == (4, 4)


def test_no_cuda_is_one_line(bench: Callable[..., tuple[Outcome, str]]) -> None:
    with pytest.raises(ContractError, match="--device cpu runs anywhere"):
        bench(device="cuda")


def test_workers_are_told_the_device_and_share_it(
    bench: Callable[..., tuple[Outcome, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int]] = []

    def execute(job: Job, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Rows]]:
        told.append((job.device, workers))
        return iter(())

    monkeypatch.setattr(run_module, "executor", lambda name: execute)
    monkeypatch.setattr(run_module, "num_cores", lambda: 64)
    monkeypatch.setattr(run_module, "plan", lambda *_: [Task("room", (0,), ())] * 100)
    for device, workers in (("cpu", 0), ("cpu:0", 0), ("cpu:0", 20)):
        bench(device=device, workers=workers, out=tmp_path / device)
    assert told == [("cpu", 64), ("cpu:0", 8), ("cpu:0", 20)]


def test_the_command_of_the_record_has_no_path(pack: Path, tmp_path: Path) -> None:
    options = BenchOptions(protocol="paper", data=pack, out=tmp_path / "run", chosen={"seeds": [0, 1]}, limit=3)
    assert options.command == (
        "mrac bench run --protocol paper --data pack --out run --seeds '0,1' --limit 3 --device cpu --executor local"
    )


def test_a_damaged_cell_is_named_and_computed_again(bench: Callable[..., tuple[Outcome, str]], tmp_path: Path) -> None:
    bench()
    before, run = table(tmp_path / "run"), tmp_path / "run"
    path = sorted((run / "cells").glob("*/*/*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-9])
    outcome, said = bench()
    assert outcome.computed == 1
    assert str(path) in said
    assert table(run) == before
