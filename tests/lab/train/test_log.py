"""The log of a run: whole lines, none from after the last state."""

import json
import math
from pathlib import Path

from mrac.lab.train.log import append_line, number, tidy


def test_lines_after_the_last_state_are_dropped_with_half_written_files(tmp_path: Path) -> None:
    for step in (2, 4, 6):
        append_line(tmp_path, step=step, loss=0.5)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 8, "lo')
    for name in (".state.safetensors.ab120000", ".last.safetensors.ff00ab12", "state.safetensors"):
        (tmp_path / name).write_bytes(b"x")
    tidy(tmp_path, 4)
    assert [json.loads(line)["step"] for line in (tmp_path / "log.jsonl").read_text().splitlines()] == [2, 4]
    assert {p.name for p in tmp_path.iterdir()} == {"log.jsonl", "state.safetensors"}


def test_a_folder_without_a_log_stays_so(tmp_path: Path) -> None:
    tidy(tmp_path, 4)
    assert not list(tmp_path.iterdir())


def test_what_json_cannot_hold_is_none() -> None:
    assert [number(v) for v in (0.1234567, math.nan, math.inf)] == [0.12346, None, None]
