"""What a run leaves behind for a person: a line of JSON at a time, and nothing half-written."""

import json
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mrac.errors import ContractError
from mrac.io.files import remove_temporary, write_whole

LOG = "log.jsonl"
STATE = "state.safetensors"


def make_folder(out: Path) -> None:
    """Makes the folder of a run.

    Raises:
        ContractError: it cannot be one.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ContractError(f"train: {out} cannot be a folder for the results ({error.strerror})") from None


def progress_bar(console: Console) -> Progress:
    """A bar per task: what it says of itself, steps done, time left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console)


def append_line(out: Path, **content: Any) -> None:
    """Adds a line to the log of a run."""
    with (out / LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(content) + "\n")


def tidy(out: Path, step: int) -> None:
    """Drops what a killed run left behind: half a file, lines of the log after its last state."""
    remove_temporary(out)
    log = out / LOG
    if log.is_file():
        lines = [line for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
        kept = "".join(line for line in lines if json.loads(line)["step"] <= step)
        write_whole(log, lambda file: file.write(kept.encode()))


def number(value: float) -> float | None:
    """As JSON can hold it: without NaN, of a loss that ran away or a set without a reading."""
    return round(value, 5) if math.isfinite(value) else None
