"""Every block of code in README, CONTRIBUTING and docs runs as printed, or says what it needs; see tests/pages."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from mrac.cli import cli
from tests.pages import EXECUTED, ROOT, SHOWN, blocks_of, commands, marks_of, name_of, pages
from tests.pages.run import companion, left_to, run_page

PAGES = [pytest.param(page, id=name_of(page)) for page in pages()]
RUN = [
    pytest.param(page, id=name_of(page), marks=[pytest.mark.lab] if getattr(companion(page), "LAB", False) else [])
    for page in pages()
    if any(block.language in EXECUTED and not block.needs for block in blocks_of(page)) and not left_to(page)
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of predictions: the network runs once for the photograph that most pages use."""
    return tmp_path_factory.mktemp("predictions")


@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MRAC_CACHE", str(cache))
    own = companion(page)
    check = own.Check() if hasattr(own, "Check") else None
    steps = 0
    for step in run_page(page, tmp_path):
        steps += 1
        if check is not None:
            check(step)
    assert steps
    if check is not None:
        check.finish()


@pytest.mark.parametrize("page", PAGES)
def test_a_block_has_a_language_that_is_run_or_shown(page: Path) -> None:
    for block in blocks_of(page):
        assert block.language in (*EXECUTED, *SHOWN), f"{block}: write `python` or `sh`, which are run"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", PAGES)
def test_a_mark_stands_above_the_block_that_it_is_about(page: Path) -> None:
    marked = [block.line - 1 for block in blocks_of(page) if block.needs and block.language in EXECUTED]
    assert marks_of(page) == marked, "<!-- not executed: needs WHAT --> belongs just above a block of sh or python"


@pytest.mark.parametrize("page", PAGES)
def test_no_command_hides_in_an_indented_block(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\n\n {4,}(?:mrac|python|pip|make|from|import) .*", text) == []


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_names_commands_options_and_modules_that_exist(page: Path) -> None:
    for block in blocks_of(page):
        for line, run in commands(block) if block.language == "sh" else ():
            words = shlex.split(line, comments=True)
            if not run and words[:1] == ["mrac"]:
                unknown = [word for word in words if word.startswith("-")]
                assert set(unknown) <= options_of(words[1:]), f"{block}: {line}"
            elif not run and words[:2] == ["python", "-m"]:
                module = ROOT.joinpath("src", *words[2].split("."))
                assert module.is_dir() or module.with_suffix(".py").exists(), f"{block}: {line}"


def options_of(words: list[str]) -> set[str]:
    """The options of the command that a line names, with those of its groups."""
    command: click.Command = cli
    context = click.Context(cli)
    options: set[str] = set()
    for word in words:
        options |= {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is None:
            break
        command = below
    return options | {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ("```python\nraise KeyError('here')\n```", KeyError),
        ("```sh\nmrac calibrate gone.png --anchors gone.csv --out result\n```", AssertionError),
        ("```sh\nfalse | cat\necho done\n```", AssertionError),
    ],
)
def test_a_block_that_fails_is_found(block: str, error: type[Exception], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{block}\n")
    with pytest.raises(error):
        list(run_page(page, tmp_path))


def test_blocks_share_names_and_a_folder_and_leave_out_what_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\n<!-- not executed: needs a GPU -->\n```python\na = 2\n```\n"
        "```sh\nfalse  # needs a robot\necho \\\n    found > file.txt\n```\n```json\n{}\n```\n"
        "```python\nfrom pathlib import Path\nprint(a, Path('file.txt').read_text())\n```\n"
        "<!-- not executed: because -->\n"
    )
    steps = list(run_page(page, tmp_path))
    assert [step.block.language for step in steps] == ["python", "sh", "python"]
    assert steps[-1].stdout.split() == ["1", "found"]
    assert [block.needs for block in blocks_of(page)] == ["", "a GPU", "", "", ""]
    assert marks_of(page) == [4, 20], "the second is about no block: the test above refuses it"
