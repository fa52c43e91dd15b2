"""docs/trust.md: every promise names tests that exist, and its limits are those that are enforced."""

import re
from pathlib import Path

import pytest

from mrac import limits

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`pytest ([^`]+)`", TEXT)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_promise_names_tests_that_exist(command: str) -> None:
    files, _, words = command.partition(" -k ")
    found = []
    for name in files.split():
        assert (ROOT / name).exists()
        found += sorted((ROOT / name).rglob("test_*.py")) if (ROOT / name).is_dir() else [ROOT / name]
    names = [test for path in found for test in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))]
    for word in words.strip('"').split(" or "):
        assert any(word in name for name in names), f"no test of {files} has {word!r} in its name"


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("pixels of a picture | 178 million", limits.MEGAPIXELS == 178),
        ("a file | 4 GiB", limits.FILE_BYTES == 4 << 30),
        ("a table of readings or points | 512 MiB", limits.TEXT_BYTES == 512 << 20),
        ("a card, configuration, calibration, manifest | 16 MiB", limits.DESCRIPTION_BYTES == 16 << 20),
        ("stated output | 2 GiB", limits.ARRAY_BYTES == 2 << 30),
        (
            "unpacked to packed | 200, from 256 MiB on",
            (limits.ARCHIVE_RATIO, limits.RATIO_FREE_BYTES) == (200, 256 << 20),
        ),
        ("readings of a file | 10 million", limits.READINGS == 10_000_000),
    ],
)
def test_the_limits_are_those_that_are_enforced(row: str, value: bool) -> None:
    assert row in TEXT
    assert value
