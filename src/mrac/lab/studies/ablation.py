"""The networks of `mrac train ablation` on the evaluation sets: clean readings, K = 50, every row and seed, all sets.

    python -m mrac.lab.studies.ablation --networks ablation --data ../shared/data/eval --out results/ablation

--networks is the --out of the training: seedN/ROW/ROW.onnx. The rows are run as methods of the protocol `zero_shot` (a
run of the benchmark, in OUT/run: killed, the same command goes on), with the fit below them, `cfa_ols`, beside them.
OUT/evaluated.json and .md: AbsRel per set, mean and standard deviation over seeds.
"""

import argparse
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from mrac.errors import ContractError
from mrac.lab.bench.run import BenchOptions, run_bench
from mrac.lab.bench.store import read_run
from mrac.lab.studies.protocol import write_results

PROTOCOL: Final = "zero_shot"
REFERENCE: Final = "cfa_ols"


def networks_in(folder: Path) -> dict[tuple[str, str], Path]:
    """The file of each row and seed.

    Raises:
        ContractError: there is none.
    """
    found = {(path.parent.name, path.parents[1].name): path for path in sorted(folder.glob("seed*/*/*.onnx"))}
    if not found:
        raise ContractError(f"studies/ablation: no seedN/ROW/ROW.onnx in {folder}; `mrac train ablation` writes them")
    return found


def method_of(row: str, path: Path) -> str:
    """The method that runs a row's network; of one trained on inverse depth, on that field."""
    name, head = ("raw_depth", "raw_unet") if row.startswith("raw_") else ("vanilla", "residual_unet")
    field = ";foundation=embedded:space=inverse_depth" if path.stem.endswith("_inverse") else ""
    return f"{name}{field};head={head}:weights={path}"


def table(rows: Iterable[Mapping[str, Any]], row_of: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """AbsRel by row and set: the mean over images, then mean and standard deviation over seeds.

    Args:
        rows: of the run, with set, method and abs_rel.
        row_of: by method the row of the table and the seed.
    """
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in rows:
        if one["abs_rel"] is not None and one["method"] in row_of:
            row, seed = row_of[one["method"]]
            errors.setdefault((row, one["set"]), {}).setdefault(seed, []).append(one["abs_rel"])
    result: dict[str, dict[str, Any]] = {}
    for (row, set_name), by_seed in errors.items():
        means = [statistics.fmean(values) for values in by_seed.values()]
        spread = {"std": statistics.stdev(means)} if len(means) > 1 else {}
        images = len(next(iter(by_seed.values())))
        result.setdefault(row, {})[set_name] = {
            "abs_rel": statistics.fmean(means),
            **spread,
            "seeds": len(means),
            "images": images,
        }
    return result


def markdown(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The table as text."""
    sets = list(dict.fromkeys(name for by_set in found.values() for name in by_set))
    lines = [["row", *sets], ["---"] * (len(sets) + 1)]
    for row, by_set in found.items():
        cells = [by_set.get(name) for name in sets]
        lines.append([row, *("" if cell is None else _cell(cell) for cell in cells)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(cell: Mapping[str, Any]) -> str:
    spread = f" ± {cell['std']:.4f}" if "std" in cell else ""
    return f"{cell['abs_rel']:.4f}{spread}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, required=True, help="the --out of `mrac train ablation`")
    parser.add_argument("--data", type=Path, required=True, help="folder of the evaluation sets")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--workers", type=int, default=0, help="0 takes the command's own choice")
    parser.add_argument("--limit", type=int, default=None, help="images per set; default all")
    given = parser.parse_args(arguments)
    row_of = {method_of(row, path): (row, seed) for (row, seed), path in networks_in(given.networks).items()}
    row_of[REFERENCE] = (REFERENCE, "")
    options = BenchOptions(
        protocol=PROTOCOL,
        data=given.data,
        out=given.out / "run",
        chosen={"methods": list(row_of)},
        limit=given.limit,
        device=given.device,
        workers=given.workers,
    )
    console = Console()
    run_bench(options, console)
    found = table(read_run(options.out).select(["set", "method", "abs_rel"]).to_pylist(), row_of)
    text = markdown(found)
    console.print(text)
    (given.out / "evaluated.md").write_text(text, encoding="utf-8")
    write_results(given.out / "evaluated.json", rows=found)


if __name__ == "__main__":
    main()
