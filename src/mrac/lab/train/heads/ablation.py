"""The paper's loss–architecture table: every row trained on the same frames, measured on the same ones held out.

`python -m mrac.lab.studies.ablation` measures the networks on the evaluation sets.
"""

import csv
import io
import json
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from mrac.io.files import write_json, write_whole
from mrac.lab.train.heads.data import DataOptions, load_head_frames
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.run import make_ready, train_all
from mrac.lab.train.heads.session import HeadRun
from mrac.lab.train.log import LOG, make_folder

# NYUv2 AbsRel of the paper's Table "Loss–architecture ablation": its own data, foundation and test images.
_PAPER = {
    "raw_full": 0.143,
    "raw_no_silog": 0.697,
    "raw_no_cwa": 0.113,
    "raw_no_ssc": 0.258,
    "raw_no_fmp": 0.162,
    "residual_full": 0.096,
    "residual_no_silog": 0.123,
    "residual_no_cwa": 0.109,
    "residual_no_ssc": 0.100,
    "residual_no_fmp": 0.096,
    "residual_no_res": 0.084,
}


def seed_folder(seed: int) -> str:
    """Where the networks of a seed lie below the folder of the ablation."""
    return f"seed{seed}"


def run_ablation(
    recipes: dict[str, HeadOptions], data: DataOptions, run: HeadRun, console: Console, seeds: Sequence[int] = (0,)
) -> Path:
    """Trains every recipe with every seed, or goes on; writes the table.

    The rows of a seed are trained side by side, each in `run.out`/seedN/ROW, one seed after the other: a run that ends
    early has whole seeds.

    Args:
        recipes: the rows by name.
        data: what is read, once for all.
        run: of each training; `out` is the folder of all of them.
        console: for the progress bar.
        seeds: of the trainings.

    Returns:
        The table, means over seeds and their standard deviations, as ablation.json; ablation.csv and ablation.md lie
        beside it.

    Raises:
        ContractError: as `train_head`.
    """
    sets = load_head_frames(data, make_ready(run), console)
    measured: dict[str, list[dict[str, float | None]]] = {name: [] for name in recipes}
    for seed in seeds:
        runs = {name: replace(run, out=run.out / seed_folder(seed) / name) for name in recipes}
        for own in runs.values():
            make_folder(own.out)
        train_all([(replace(options, seed=seed), runs[name]) for name, options in recipes.items()], sets, console)
        for name, own in runs.items():
            last = json.loads((own.out / LOG).read_text(encoding="utf-8").splitlines()[-1])
            measured[name].append(_measured(last))
    rows = [{"row": name, "paper_nyu": _PAPER.get(name), **_over_seeds(each)} for name, each in measured.items()]
    return write_table(run.out, rows, console)


def _over_seeds(each: list[dict[str, float | None]]) -> dict[str, float | None]:
    """Means over seeds, with `_std` the standard deviations where there are two seeds or more."""
    found: dict[str, float | None] = {}
    for name in each[0]:
        values = [one[name] for one in each]
        numbers = [value for value in values if value is not None]
        whole = len(numbers) == len(values)
        found[name] = statistics.fmean(numbers) if whole else None
        if len(each) > 1:
            found[f"{name}_std"] = statistics.stdev(numbers) if whole else None
    return found | {"seeds": len(each)}


def _measured(line: dict[str, Any]) -> dict[str, float | None]:
    """Of the last line of a log: the loss, and AbsRel of head and fit per set."""
    scores: dict[str, dict[str, float | None]] = line["abs_rel"]
    flat = {f"{set_name}_{what}": value for set_name, both in scores.items() for what, value in both.items()}
    return {"loss": line["loss"]["total"], **flat}


def write_table(out: Path, rows: list[dict[str, Any]], console: Console) -> Path:
    """Shows the rows and writes them as ablation.json, .csv and .md."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name)) for name in columns] for row in rows]
    table = Table(*columns, title="AbsRel on scenes held out, K = 50")
    for row in cells:
        table.add_row(*row)
    console.print(table)
    path = out / "ablation.json"
    write_json(path, {"rows": rows})
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    lines = [columns, ["---"] * len(columns), *cells]
    markdown = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    write_whole(out / "ablation.csv", lambda file: file.write(text.getvalue().encode()))
    write_whole(out / "ablation.md", lambda file: file.write(markdown.encode()))
    return path


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)
