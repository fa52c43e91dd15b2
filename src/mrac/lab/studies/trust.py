"""Whether readings are kept, and depth is no worse, where sensors' patterns or failing foundations mislead the gate.

    python -m mrac.lab.studies.trust --data ../shared/data/train --limit 20 [--only sensors] [--weights gate.npz]

The conditions of the protocols `sensors` and `failing` on any pack, a training pack too, in one table: a row per
placement (clean readings) or fault of the foundation (clean, and 25 % near), means over images of all sets. For
choosing weights of the gate on training frames; what is reported comes from `mrac bench run`. Columns: right readings
that `default` keeps; AbsRel of `default`, without its gate, without a network; coverage of its 90 % interval; share of
images whose status is not `ok`; what of the bar in `mrac.lab.bench.report.trust` is missed.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac.errors import ContractError
from mrac.lab.bench.executors.local import execute
from mrac.lab.bench.methods import parse_method
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.report.results import Results
from mrac.lab.bench.report.trust import FAILING, NO_GATE, NO_NETWORK, OWN, SENSORS, Trust, trust_of
from mrac.lab.bench.store import COLUMNS
from mrac.lab.bench.work import Job, Task, sets_in
from mrac.runtime.parallel import num_cores

_PROTOCOLS: Final = ("sensors", "failing")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is measured.

    Attributes:
        data: a folder of sets.
        limit: images of each set, spread evenly over it.
        sets: by name; all where it is empty.
        stages: put into every method that does not name that stage itself.
    """

    data: Path
    limit: int
    sets: tuple[str, ...] = ()
    stages: tuple[tuple[str, str], ...] = ()


def with_stages(method: str, stages: Sequence[tuple[str, str]]) -> str:
    """A method with further stages, except those that it names itself."""
    named = {choice.partition("=")[0] for choice in method.split(";")[1:]}
    return parse_method(";".join([method, *(f"{s}={spec}" for s, spec in stages if s not in named)])).text


def measured(name: str, choice: Choice, workers: int) -> Results:
    """The rows of a protocol: each image, condition and method, the latter by the protocol's own names."""
    there, protocol = sets_in(choice.data), Protocol.read(name)
    if unknown := [one for one in choice.sets if one not in there]:
        raise ContractError(f"trust: no set {unknown[0]} in {choice.data}, which has {', '.join(there)}")
    sets = choice.sets or tuple(there)
    own = {with_stages(m, choice.stages): parse_method(m).text for grid in protocol.grids for m in grid["methods"]}
    grids = [
        {**grid, "sets": sets, "methods": [with_stages(m, choice.stages) for m in grid["methods"]]}
        for grid in protocol.grids
    ]
    cells = Protocol.of({**protocol.to_json(), "grid": grids}).cells()
    tasks = [
        Task(one, (int(i),), tuple(cell for cell in cells if cell.condition.set_name == one))
        for one in sets
        for i in np.unique(np.linspace(0, len(there[one]) - 1, choice.limit).round())
    ]
    done = execute(Job(str(choice.data.resolve()), dumps(protocol.to_json())), tasks, workers)
    shown = track(done, description=name, total=len(tasks), console=Console(stderr=True))
    rows: list[dict[str, Any]] = [row for _, some in shown for row in some]
    for failure, count in Counter(row["failure"] for row in rows if row.get("failure")).most_common():
        Console(stderr=True).print(f"{count} of {len(rows)} failed: {failure}", markup=False)
    columns: dict[str, list[Any]] = {column: [row.get(column) for row in rows] for column in COLUMNS}
    return Results({**columns, "method": [own[method] for method in columns["method"]]})


def trust_where(results: Results, **where: Any) -> Trust:
    """Of the rows whose columns have these values."""
    chosen = np.all([results.columns[name] == value for name, value in where.items()], axis=0)
    return trust_of(results.columns, np.flatnonzero(chosen))


def sensor_lines(results: Results) -> Iterator[tuple[str, ...]]:
    """A line per placement, in the order of the protocol."""
    for placement in dict.fromkeys(results.columns["placement"].tolist()):
        own, no_gate, no_network = (
            trust_where(results, placement=placement, method=method) for method in (OWN, NO_GATE, NO_NETWORK)
        )
        others = (no_gate.abs_rel, no_network.abs_rel)
        yield _line(placement, own, others, SENSORS.missed(own, others))


def failing_lines(results: Results) -> Iterator[tuple[str, ...]]:
    """A line per fault, for clean readings and for those with outliers."""
    columns = results.columns
    for family, fraction in dict.fromkeys(zip(columns["family"].tolist(), columns["fraction"].tolist(), strict=True)):
        condition = {"family": family, "fraction": fraction}
        no_network = trust_where(results, method=NO_NETWORK, **condition)
        for method in dict.fromkeys(columns["method"].tolist()):
            own = trust_where(results, method=method, **condition)
            others = (float("nan"), no_network.abs_rel)
            what = (parse_method(method).fault or method) + (f", {family} {fraction:.0%}" if fraction else "")
            yield _line(what, own, others, FAILING.missed(own, others[1:]))


def _line(what: str, own: Trust, others: tuple[float, float], missed: Sequence[str]) -> tuple[str, ...]:
    errors = (f"{error:.4f}" if np.isfinite(error) else "" for error in (own.abs_rel, *others))
    counts = [f"{status} {count}" for status, count in own.statuses.most_common() if status != "ok"]
    counts += [f"failed {own.num_failed}"] if own.num_failed else []
    shares = (f"{own.coverage:.1%}", f"{own.not_ok:.0%}")
    return what, f"{own.kept:.1%}", *errors, *shares, ", ".join(counts), " ".join(missed) or "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of sets, e.g. a training pack")
    parser.add_argument("--limit", type=int, default=20, help="images of each set, spread evenly over it")
    parser.add_argument("--sets", default="", help="by name, separated by commas; all by default")
    parser.add_argument("--only", choices=_PROTOCOLS, help="one of the two protocols")
    parser.add_argument("--weights", type=Path, help="of the gate: an .npz file of `mrac train gate`")
    parser.add_argument("--foundation", default="", help="another one, e.g. embedded:path=fold0.onnx")
    parser.add_argument("--by-set", action="store_true", help="a table for each set instead of one for all")
    parser.add_argument("--workers", type=int, default=num_cores())
    arguments = parser.parse_args()
    stages = {"gate": arguments.weights and f"consensus_learned:weights={arguments.weights.resolve()}"}
    stages["foundation"] = arguments.foundation
    sets = tuple(filter(None, arguments.sets.split(","))) or tuple(sets_in(arguments.data))
    given = tuple((stage, spec) for stage, spec in stages.items() if spec)
    lines = {"sensors": sensor_lines, "failing": failing_lines}
    for group in [(one,) for one in sets] if arguments.by_set else [sets]:
        choice = Choice(data=arguments.data, limit=arguments.limit, sets=group, stages=given)
        for name in [arguments.only] if arguments.only else _PROTOCOLS:
            heads = ("kept", "AbsRel", "no gate", "no network", "cov. 90", "not ok", "statuses", "missed")
            table = Table(name, *heads, title=f"{', '.join(group)}: {arguments.limit} images each")
            for line in lines[name](measured(name, choice, arguments.workers)):
                table.add_row(*line)
            Console(width=160).print(table)


if __name__ == "__main__":
    main()
