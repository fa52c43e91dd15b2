"""`mrac list` and its tables of formats."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import mrac
from mrac import registry
from mrac.cli.list import COMMAND
from mrac.clouds import READERS
from mrac.formats import FORMATS, rows
from mrac.result.save import SUFFIXES

PACKAGE = Path(mrac.__file__).parent
STAGES = ("methods", "foundations", "gates", "fits", "heads")
ALL = (
    *STAGES, "sensors", "anchors", "cameras", "clouds", "results", "devices", "datasets", "outliers", "placements",
    "licences",
)  # fmt: skip


def listed(*words: str) -> str:
    done = CliRunner().invoke(COMMAND, words, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_without_a_kind_the_kinds_are_listed_on_one_screen() -> None:
    lines = listed().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    counts = {line.split()[0]: int(line.split()[1]) for line in lines[1 : len(ALL) + 1]}
    assert counts == {kind: len(entries) for kind, entries in json.loads(listed("--json")).items()}


@pytest.mark.parametrize("kind", registry.KINDS)
def test_a_kind_is_listed_in_80_columns(kind: str) -> None:
    text = listed(f"{kind}s")
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.strip() for line in text.splitlines()]
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in registry.names(kind))
    assert kind != "foundation" or any(line.startswith("dav2-small ") for line in lines)


@pytest.mark.parametrize("kind", ALL)
def test_one_kind_is_what_the_whole_list_has_of_it(kind: str) -> None:
    whole, alone = json.loads(listed("--json")), json.loads(listed(kind, "--json"))
    assert list(whole) == list(ALL)
    assert alone == {kind: whole[kind]}
    for entry in alone[kind]:
        assert entry["name"] in listed(kind).replace("\n", " ")
        assert "spec" in entry or len(entry["summary"]) > 10


def test_the_formats_are_those_of_the_readers() -> None:
    def endings(kind: str) -> list[str]:
        return [word for one in FORMATS[kind] for word in one.name.split() if word.startswith(".")]

    assert sorted(endings("clouds")) == sorted(READERS)
    assert sorted(endings("results")) == sorted(SUFFIXES)
    for name, module in ((one.name, one.module) for one in FORMATS["clouds"]):
        assert {READERS[ending] for ending in name.split()} == {module.partition("/")[2]}
    for kind in FORMATS:
        assert all(len(summary) > 10 for _, summary in rows(kind))


def test_a_camera_format_is_a_module_that_reads_cameras() -> None:
    readers = [path.stem for path in (PACKAGE / "camera").glob("*.py") if "def read_camera(" in path.read_text()]
    assert sorted(one.name for one in FORMATS["cameras"]) == sorted(set(readers) - {"read"})
