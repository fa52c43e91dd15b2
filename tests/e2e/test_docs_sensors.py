"""What docs/sensors.md states beyond its blocks, which tests/e2e/test_pages.py runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mrac.demo import motorcycle
from tests.pages import ROOT, blocks_of
from tests.pages.docs_sensors import PAGE, section
from tests.pages.sensor_files import write_tables

RESULTS = ROOT / "results" / "mistakes--2cores-x86_64--2026-11-16" / "seed0.json"


def test_the_shell_completes_as_the_page_says() -> None:
    (line,) = (block.text for block in blocks_of(PAGE) if "_MRAC_COMPLETE" in block.text)
    # `mrac calibrate --anch` and tab, as the function that the page's line defines completes it.
    tab = "COMP_WORDS=(mrac calibrate --anch) COMP_CWORD=2 COMPREPLY=()\n_mrac_completion mrac\necho ${COMPREPLY[*]}"
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", f"{line}{tab}"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["--anchors --anchors-scale"]


def test_the_header_of_the_table_is_that_of_the_file(tmp_path: Path) -> None:
    (header,) = re.findall(r"```csv\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    write_tables(tmp_path, motorcycle())
    assert (tmp_path / "readings.csv").read_text().splitlines()[0] == header


def test_the_figures_of_what_is_noticed_are_those_of_the_run() -> None:
    stored = json.loads(RESULTS.read_text())
    sets = [stored["sets"][name] for name in ("nyu", "kitti15", "sunrgbd", "tum", "tabletop")]
    rows = [line.strip("|").split("|") for line in section("What is noticed").splitlines() if line.startswith("|")][2:]
    printed = {re.sub(r"\W", "", name): [float(cell) for cell in cells] for name, *cells in rows}
    labels = {
        "unitsmmcmorkmform": ("units: mm", "units: cm", "units: km"),
        "unitsfeetform": ("units: feet",),
        "swapped_uv": ("swapped_uv",),
        "image_sizepixelsofanothersize": ("image_size",),
        "normalised_uv0to1forpixels": ("normalised_uv",),
        "mirroredleftandright": ("mirrored: left-right",),
        "mirroredtopandbottom": ("mirrored: top-bottom",),
        "rotated180": ("rotated: 180",),
        "rotated90": ("rotated: 90",),
        "range_not_zraylengthforzcameragiven": ("range_not_z",),
        "saturatedafifthatthelargestvalue": ("saturated",),
        "all_equal": ("all_equal",),
        "at_borderclippedtotheimage": ("at_border",),
    }
    expected = {
        row: [each["noticed_percent"][label] for each in sets] for row, names in labels.items() for label in names
    }
    for row, kind in (("falsealarmscleanreadings", "clean"), ("falsealarmsaquarterwrong", "outliers")):
        expected[row] = [max(each["false_alarms_percent"][kind].values()) for each in sets]
    assert printed == expected
    assert "".join(stored["command"].split()) in "".join(section("What is noticed").split())
