"""Runs what is missing of a protocol: killed at any moment, the same call goes on and ends with the same table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from mrac.errors import ContractError, MissingExtra
from mrac.io.input_file import resolved
from mrac.lab.bench.executors import executor
from mrac.lab.bench.methods import parse_method
from mrac.lab.bench.plan import plan
from mrac.lab.bench.progress import Pace, shown
from mrac.lab.bench.protocol import Cell, Protocol
from mrac.lab.bench.provenance import about_run, continued
from mrac.lab.bench.store import Journal, cell_of, finished, locked, read_about, write_about, write_cell
from mrac.lab.bench.work import Job, sets_in
from mrac.lab.data import Dataset
from mrac.runtime.parallel import num_cores

Row = dict[str, Any]
_MOST_ON_DEVICE: Final = 8


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What `mrac bench run` takes.

    Attributes:
        protocol: a name, or the path of a .toml file.
        data: the folder of the data sets.
        out: the folder of the run; one that is there is gone on with.
        chosen: lists of the protocol that are chosen anew, by name; see `Protocol.choose`.
        limit: images per set, the first ones; None takes the protocol's.
        rules: by which frames are scored: each set's `own`, or the `paper`'s.
        device: `cpu`, `cuda`, or any name that torch has for one; see `device.on_device`.
        executor: `local` or `ray`.
        workers: processes; 0 takes one per core, and where they share a GPU eight at most.
    """

    protocol: str
    data: Path
    out: Path
    chosen: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    limit: int | None = None
    rules: str = "own"
    device: str = "cpu"
    executor: str = "local"
    workers: int = 0

    @property
    def command(self) -> str:
        """The command line, folders by their names alone."""
        protocol = Path(self.protocol).name
        words = ["mrac bench run --protocol", protocol, "--data", resolved(self.data).name, "--out", self.out.name]
        for name, values in self.chosen.items():
            words += [f"--{name}", f"'{','.join(map(str, values))}'"]
        words += [] if self.limit is None else ["--limit", str(self.limit)]
        words += [] if self.rules == "own" else ["--rules", self.rules]
        return " ".join([*words, "--device", self.device, "--executor", self.executor])


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        cells: that the command asked for; all of them are finished.
        computed: how many of them were finished in this call.
        failures: rows computed in this call that are failures.
        images_per_second: rows computed per second.
    """

    cells: int
    computed: int
    failures: int
    images_per_second: float


def run_bench(options: BenchOptions, console: Console) -> Outcome:
    """Runs every cell of the protocol that `options.out` does not have yet.

    Raises:
        ContractError: the protocol, the data or the folder of the run do not fit; see each.
        MissingExtra: pyarrow, Ray or what a method needs is not installed.
    """
    from mrac.lab.bench.device import on_device  # noqa: PLC0415  (numba and scipy: a slip in the command should not wait)

    _check_device(options.device)
    protocol = Protocol.read(options.protocol)
    limit = protocol.limit if options.limit is None else options.limit
    paper_rules = options.rules == "paper"
    chosen = protocol.choose(options.chosen)
    chosen, sets = _with_sets(chosen, sets_in(options.data, paper_rules), "sets" in options.chosen, console)
    cells = [cell for cell in chosen.cells() if cell.condition.set_name in sets]
    for method in dict.fromkeys(cell.method for cell in cells):
        # A slip in the last method should not wait for the first to be done.
        on_device(parse_method(method).calibrator(), options.device)
    with locked(options.out):
        about = about_run(
            protocol,
            cells,
            sets,
            limit=limit,
            device=options.device,
            command=options.command,
            chosen=options.chosen,
        )
        write_about(options.out, continued(read_about(options.out), about))
        job = Job(str(resolved(options.data)), json.dumps(protocol.to_json()), options.device, paper_rules)
        images = {name: [entry.id for entry in dataset.entries[:limit]] for name, dataset in sets.items()}
        done = finished(options.out, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True))
        return _Run(options, job, cells, images, done)(console)


class _Run:
    """The cells of one call: what they have, and what is done when a task is."""

    def __init__(
        self,
        options: BenchOptions,
        job: Job,
        cells: Sequence[Cell],
        images: Mapping[str, Sequence[str]],
        done: set[Cell],
    ) -> None:
        self._options, self._job, self._cells, self._done = options, job, cells, done
        self._places = {name: {id_: i for i, id_ in enumerate(ids)} for name, ids in images.items()}
        self._there: dict[Cell, dict[int, Row]] = {cell: {} for cell in cells if cell not in self._done}
        self._journal = Journal(options.out, self._done)
        self._failures = 0

    def __call__(self, console: Console) -> Outcome:
        computed = self._take(row for _, row in self._journal.rows)
        tasks = plan(list(self._there), {name: len(ids) for name, ids in self._places.items()}, self._there)
        pace = self._pace(sum(task.num_rows for task in tasks))
        workers = min(self._options.workers or _default_workers(self._options.device), max(len(tasks), 1))
        if tasks:
            console.print(f"{len(self._cells)} cells, {len(self._there)} to run, {workers} workers", highlight=False)
        with shown(pace, console) as progress:
            for task, rows in executor(self._options.executor)(self._job, tasks, workers) if tasks else ():
                self._journal.append(rows)
                self._failures += sum(row.get("failure") is not None for row in rows)
                now = self._take(rows)
                computed += now
                pace.cells, pace.rows = pace.cells + now, pace.rows + task.num_rows
                progress.update()
        # Rows of cells that this call was not asked for stay, for the one that will be.
        if all(cell in self._done for cell, _ in self._journal.rows):
            self._journal.remove()
        return Outcome(len(self._cells), computed, self._failures, pace.per_second)

    def _pace(self, left: int) -> Pace:
        done = len(self._cells) - len(self._there)
        num_rows = sum(len(self._places[cell.condition.set_name]) for cell in self._cells)
        return Pace(done, len(self._cells), num_rows - left, num_rows)

    def _take(self, rows: Iterable[Row]) -> int:
        """Keeps rows; writes the cells that are complete by them, and says how many those are."""
        count = 0
        for row in rows:
            cell = cell_of(row)
            own = self._there.get(cell)
            place = self._places.get(cell.condition.set_name, {}).get(row["image"])
            if own is None or place is None:
                continue
            own[place] = row
            if len(own) == len(self._places[cell.condition.set_name]):
                write_cell(self._options.out, cell, [own[i] for i in sorted(own)])
                self._done.add(cell)
                del self._there[cell]
                count += 1
        return count


def _with_sets(
    protocol: Protocol, there: Mapping[str, Dataset], asked: bool, console: Console
) -> tuple[Protocol, dict[str, Dataset]]:
    """The sets to run, and the protocol with them; what is missing or left out is said."""
    named = list(dict.fromkeys(name for grid in protocol.grids for name in grid["sets"]))
    missing = [name for name in named if name not in there]
    others = [name for name in there if name not in named]
    if asked and missing:
        raise ContractError(f"bench: no set {', '.join(missing)} in the data, which has {', '.join(there)}")
    if len(missing) == len(named):
        # A folder of other sets of the same form: the protocol says what is done, not to whose images.
        console.print(f"none of the protocol's sets is there ({', '.join(named)}): all of {', '.join(there)} are run")
        return protocol.choose({"sets": others}), dict(there)
    if missing:
        console.print(f"not in the data, and left out: {', '.join(missing)}")
    if others and missing:
        console.print(f"in the data, but not in the protocol: {', '.join(others)}; --sets takes them")
    return protocol, {name: there[name] for name in named if name in there}


def _default_workers(device: str) -> int:
    # Each holds a context of half a gigabyte on the GPU, which with eight is busy already.
    return num_cores() if device == "cpu" else min(num_cores(), _MOST_ON_DEVICE)


def _check_device(device: str) -> None:
    if device == "cpu":
        return
    try:
        import torch  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"bench --device {device}", "torch") from None
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ContractError(
            f"bench: --device {device}, but torch finds no CUDA device here; --device cpu runs anywhere"
        )
