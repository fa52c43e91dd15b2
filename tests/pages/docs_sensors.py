"""docs/sensors.md: files of every sensor; each command gives status `ok`, right depth and the reasons it names."""

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mrac import MetricDepth
from mrac.conventions import FloatArray
from mrac.demo import motorcycle
from tests.pages import ROOT, Block, commands
from tests.pages.run import Step
from tests.pages.sensor_files import write_sensor_files

PAGE = ROOT / "docs" / "sensors.md"
REASONS = {  # that the page tells a reader to look at, and that these files give
    "A table of readings": {"nearer_than_neighbours", "low_confidence", "sensor_status_4"},
    "A depth camera or a phone": {"low_confidence", "occluded"},
    "A multizone time-of-flight sensor": {"no_target", "out_of_sensor_range"},
    "A 2-D laser scanner": {"invalid_range"},
    "A sensor of my own": {"saturated"},
}
AT_READINGS = 0.02  # median relative error of kept readings: a wrong unit, axis or pose gives far more
EVERYWHERE = {
    "A LiDAR scan": 0.015,
    "A depth camera or a phone": 0.015,
    "A 2-D laser scanner": 0.15,
}  # of the depth map
ELSEWHERE = "Exit codes, quiet, JSON, shell completion"


def write(folder: Path) -> None:
    write_sensor_files(folder)
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "sensor.toml").write_text(toml, encoding="utf-8")


def section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    start = re.search(rf"^## {re.escape(title)}.*$", text, re.MULTILINE)
    assert start, title
    return text[start.end() :].partition("\n## ")[0]


def title_of(block: Block) -> str:
    above = PAGE.read_text(encoding="utf-8").splitlines()[: block.line]
    return [line for line in above if line.startswith("## ")][-1].removeprefix("## ")


class Check:
    """Looks at every step; at the end, at the reasons that the readings of each section had."""

    def __init__(self) -> None:
        self.reasons: dict[str, set[str]] = {}

    def __call__(self, step: Step) -> None:
        title = title_of(step.block)
        limit = EVERYWHERE.get(title, 0.08)
        if title == ELSEWHERE:
            check_codes_and_json(step)
        elif step.block.language == "sh":
            assert len(commands(step.block)) <= 3, "at most three commands"
            self.reasons.setdefault(title, set()).update(check_command(step, limit))
        else:
            assert len(step.block.text.splitlines()) <= 10, "at most ten lines of Python"
            out = step.names["out"]
            assert isinstance(out, MetricDepth)
            assert (out.status, out.warnings) == ("ok", ()), title
            assert median_error(out.depth_m) < limit, title

    def finish(self) -> None:
        for title, reasons in REASONS.items():
            assert reasons <= self.reasons[title], title
            assert all(f"`{reason}`" in section(title) for reason in reasons)


def check_command(step: Step, limit: float) -> set[str]:
    """One `mrac calibrate` of the page; gives the reasons of its report."""
    words, comment = shlex.split(step.source, comments=True), step.source.partition(" # ")[2]
    assert words[:2] == ["mrac", "calibrate"], step.source
    out = step.folder / words[words.index("--out") + 1]
    report = json.loads((out / "report.json").read_text())
    assert report["status"] == "ok", step.source
    noticed = re.findall(r"warning (\w+)", comment)
    assert [w["name"] for w in report["warnings"]] == noticed, step.source
    assert [word.partition(":")[0] for word in re.findall(r"^warning (\S+)", step.stdout, re.MULTILINE)] == noticed
    if not noticed:
        assert error_at_readings(report["anchors"]) < AT_READINGS, step.source
        with np.load(out / "depth.npz") as maps:
            assert median_error(maps["depth_m"]) < limit, step.source
    for name in (words[i + 1] for i, word in enumerate(words) if word == "--save"):
        assert (step.folder / name).stat().st_size > 100_000, name
    return {entry["reason"] for entry in report["anchors"]}


def check_codes_and_json(step: Step) -> None:
    if "missing.csv" in step.source:
        assert step.stdout.splitlines() == ["exit code 2"]
        assert len(step.stderr.splitlines()) == 1, "a mistake is one line"
        assert "missing.csv" in step.stderr
        assert json.loads((step.folder / "report.json").read_text())["status"] == "ok"


@cache
def truth() -> FloatArray:
    return motorcycle().truth_m


def median_error(depth_m: FloatArray) -> float:
    return float(np.nanmedian(np.abs(depth_m / truth() - 1.0)))


def error_at_readings(entries: list[dict[str, Any]]) -> float:
    """Median relative error of the kept readings of a report, at the pixels that it states."""
    kept = np.array([(entry["u"], entry["v"], entry["z_m"]) for entry in entries if entry["keep"]], np.float64)
    u, v = np.rint(kept[:, :2]).astype(int).T
    return float(np.nanmedian(np.abs(kept[:, 2] / truth()[v, u] - 1.0)))
