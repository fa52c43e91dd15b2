"""What a release needs besides code: how to cite it, how to report a weakness, a checklist whose lines exist."""

import re
from pathlib import Path

import pytest

from mrac import __version__

CHECKOUT = Path(__file__).parents[2]


def test_the_citation_is_valid() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    # What the format, version 1.2.0, requires of a file and of a reference.
    assert cited["cff-version"] == "1.2.0"
    assert isinstance(cited["message"], str)
    assert isinstance(cited["title"], str)
    assert cited["type"] == "software"
    for work in (cited, *cited["references"]):
        assert isinstance(work["title"], str)
        for author in work["authors"]:  # a person, or an entity with its name alone
            assert set(author) in ({"name"}, {"family-names", "given-names"})
    known = {
        "cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords",
        "references",
    }  # fmt: skip
    assert set(cited) <= known
    assert [set(work) for work in cited["references"]] == [{"type", "title", "authors", "notes"}]
    assert cited["version"] == __version__
    assert cited["license"] == "Apache-2.0"
    assert len(cited["references"][0]["authors"]) == 4


def test_the_promises_are_those_of_the_code() -> None:
    text = (CHECKOUT / "SECURITY.md").read_text(encoding="utf-8")
    for word in ("allow_pickle=False", "weights_only=True", "SHA-256", "loopback", "No telemetry", "Report"):
        assert word in text
    loads = [
        (path, line)
        for path in (CHECKOUT / "src").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\b(np|numpy)\.load\(|\btorch\.load\(|\bpickle\.load\(|\byaml\.load\(", line)
    ]
    assert loads
    for path, line in loads:
        assert "allow_pickle=False" in line or "weights_only=True" in line, f"{path}: {line}"


def test_the_lines_of_the_checklist_exist() -> None:
    text = (CHECKOUT / "docs" / "release.md").read_text(encoding="utf-8")
    block = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[0]
    lines = [line.partition(" #")[0].split() for line in block.splitlines()]
    assert {words[0] for words in lines} <= {"git", "sed", "make", ".venv/bin/python", ".venv/bin/mrac"}
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for words in lines:
        if words[0] == "make":
            assert set(words[1:]) <= targets
        for word in words:
            if word.startswith("tests/"):
                assert (CHECKOUT / word).is_file()
            if word.startswith("tests."):
                assert (CHECKOUT / f"{word.replace('.', '/')}.py").is_file()
    assert (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8").count("\n## Unreleased\n") <= 1
    assert re.search(r'^__version__ = "', (CHECKOUT / "src/mrac/version.py").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_linked_file_of_these_pages_exists() -> None:
    for page in ("SECURITY.md", "docs/release.md", "docs/python.md"):
        path = CHECKOUT / page
        for link in re.findall(r"\]\((?!http)([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{page}: {link}"
