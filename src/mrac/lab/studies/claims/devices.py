"""Cells that were run on a CPU and on a GPU: how far apart their results are.

python -m mrac.lab.studies.claims.devices RUN...
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.errors import ContractError
from mrac.lab.bench.report.results import KEY
from mrac.lab.studies.runs import runs_parser

_ROW: Final = (*KEY, "seed", "image")
_COMPARED: Final = ("abs_rel", "anchors_hash", "num_rejected")
Rows = dict[tuple[Any, ...], tuple[Any, ...]]


def read_by_device(runs: Sequence[Path]) -> dict[str, Rows]:
    """Rows by device; of those that two runs have the first."""
    from mrac.lab.bench.store import read_about, read_run  # noqa: PLC0415  (pyarrow)

    found: dict[str, Rows] = {}
    for run in runs:
        table = read_run(run)
        keys = zip(*(table[name].to_pylist() for name in _ROW), strict=True)
        values = zip(*(table[name].to_pylist() for name in _COMPARED), strict=True)
        rows = found.setdefault(str((read_about(run) or {}).get("device", "cpu")), {})
        for key, value in zip(keys, values, strict=True):
            rows.setdefault(key, value)
    return found


def compared(cpu: Rows, other: Rows) -> str:
    """Markdown, a line per method: differences of AbsRel by image and by cell.

    Raises:
        ContractError: the same image of the same cell had other anchors, which nothing here may explain away.
    """
    both = [key for key in cpu if key in other and None not in (cpu[key][0], other[key][0])]
    if any(cpu[key][1] != other[key][1] for key in both):
        raise ContractError("studies/claims/devices: one cell has different anchors on the two devices")
    lines = [
        "| method | images of cells | median difference | largest | largest of a cell's mean | gates that differ |\n",
        "|---|---:|---:|---:|---:|---:|\n",
    ]
    for method in sorted({key[KEY.index("method")] for key in both}):
        own = [key for key in both if key[KEY.index("method")] == method]
        apart = np.array([other[key][0] - cpu[key][0] for key in own])
        cells: dict[tuple[Any, ...], list[float]] = {}
        for key, difference in zip(own, apart.tolist(), strict=True):
            cells.setdefault(key[:-1], []).append(difference)
        of_cell = max(abs(float(np.mean(values))) for values in cells.values())
        verdicts = sum(cpu[key][2] != other[key][2] for key in own)
        sizes = [f"{value:.0e}" if value else "0" for value in (np.median(abs(apart)), abs(apart).max(), of_cell)]
        lines.append(f"| `{method}` | {len(own)} | {' | '.join(sizes)} | {verdicts} |\n")
    return "".join(lines)


def devices_page(runs: Sequence[Path]) -> str:
    """What stands in devices.md; nothing where all runs are of one device."""
    by_device = read_by_device(runs)
    cpu = by_device.pop("cpu", {})
    parts = [f"## AbsRel on `{name}` against `cpu`\n\n{compared(cpu, rows)}" for name, rows in by_device.items()]
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    print(devices_page(runs_parser("claims.devices", __doc__).parse_args(arguments).runs))


if __name__ == "__main__":
    main()
