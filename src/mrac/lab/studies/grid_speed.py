"""How long the paper's grid takes, from the command to the last file: five methods, 320 cells.

    python -m mrac.lab.studies.grid_speed --data ../shared/data/eval --device cuda

A process of its own is timed, so that its start counts: imports, workers, networks that are loaded. The cache of
predictions is empty before, unless --warm fills it with a run that is not timed. Clean readings are the same for every
family, so that the grid's 64 conditions are 52 to compute; both numbers are printed.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.store import finished, read_run
from mrac.runtime.cache.location import FOLDER_VARIABLE
from mrac.runtime.parallel import num_cores

METHODS: Final = ("vanilla", "b_prime", "mrac", "mrac_b_prime", "sml_retrained")
_LISTS: Final = ("sets", "families", "fractions", "anchors", "seeds", "placements", "sources")


def num_cells(protocol: Protocol, num_methods: int) -> int:
    """As the paper counts them: clean readings once for every family."""
    return sum(num_methods * math.prod(len(grid[name]) for name in _LISTS) for grid in protocol.grids)


def timed_run(command: Sequence[str], folder: Path) -> float:
    """Wall seconds of `mrac bench run`, with predictions kept in `folder`."""
    start = time.perf_counter()
    environment = {**os.environ, FOLDER_VARIABLE: str(folder)}
    done = subprocess.run([sys.executable, "-m", "mrac", "bench", "run", *command], env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"studies/grid_speed: `mrac bench run` ended with {done.returncode}")
    return time.perf_counter() - start


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """What is printed."""
    words = ["--protocol", given.protocol, "--data", str(given.data), "--methods", ",".join(given.methods)]
    words += ["--device", given.device, "--executor", given.executor, "--workers", str(given.workers)]
    words += [] if given.limit is None else ["--limit", str(given.limit)]
    with tempfile.TemporaryDirectory() as folder:
        cache, out = Path(folder) / "predictions", Path(folder) / "run"
        if given.warm:
            timed_run([*words, "--out", str(Path(folder) / "warm")], cache)
        seconds = timed_run([*words, "--out", str(out)], cache)
        rows, cells = read_run(out), finished(out)
    failures = rows.num_rows - rows["failure"].null_count
    if failures:
        raise SystemExit(f"studies/grid_speed: {failures} failures, which cost nothing; none may be")
    protocol = Protocol.read(given.protocol)
    return {
        "protocol": given.protocol,
        "methods": list(given.methods),
        "seconds": round(seconds, 2),
        "cells": num_cells(protocol, len(given.methods)),
        "cells_computed": len(cells),
        "images": len({(row["set"], row["image"]) for row in rows.select(["set", "image"]).to_pylist()}),
        "rows": rows.num_rows,
        "images_per_second": round(rows.num_rows / seconds, 1),
        "device": device_name(given.device),
        "executor": given.executor,
        "workers": given.workers or "default",
        "cores": num_cores(),
        "predictions": "cached" if given.warm else "computed",
    }


def device_name(device: str) -> str:
    if device == "cpu":
        return f"cpu, onnxruntime {version('onnxruntime')}"
    import torch  # noqa: PLC0415  (only those who use it pay)

    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--executor", choices=["local", "ray"], default="local")
    parser.add_argument("--workers", type=int, default=0, help="0 takes the command's own choice")
    parser.add_argument("--protocol", default="paper")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--limit", type=int, default=None, help="images per set; default all")
    parser.add_argument("--warm", action="store_true", help="predictions from a cache")
    print(json.dumps(measure(parser.parse_args(arguments))))


if __name__ == "__main__":
    main()
