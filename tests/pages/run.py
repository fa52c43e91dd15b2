"""Runs the blocks of a page in their order, as a reader would."""

import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.e2e.test_cli import mrac_here
from tests.pages import EXECUTED, ROOT, Block, blocks_of, commands, name_of


@dataclass(frozen=True)
class Step:
    """What was run: one command of a shell block, a whole one that needs a shell, or a block of Python."""

    block: Block
    source: str
    folder: Path
    stdout: str = ""
    stderr: str = ""
    names: dict[str, Any] = field(default_factory=dict)


def companion(page: Path) -> Any:
    """The module of `tests.pages` that belongs to a page, or None."""
    name = re.sub(r"\W", "_", name_of(page).removesuffix(".md")).lower()
    return importlib.import_module(f"tests.pages.{name}") if find_spec(f"tests.pages.{name}") else None


def left_to(page: Path) -> Path | None:
    """The test module that runs the blocks of a page without a companion, or None."""
    test = ROOT / "tests" / "e2e" / f"test_docs_{page.stem}.py"
    own = companion(page) is None and test.exists() and page.name in test.read_text(encoding="utf-8")
    return test if own else None


def run_page(page: Path, folder: Path) -> Iterator[Step]:
    """Runs all blocks of a page in `folder`, which is the working directory; gives every step once it is done."""
    own = companion(page)
    if hasattr(own, "write"):
        own.write(folder)
    names: dict[str, Any] = own.names() if hasattr(own, "names") else {}
    for block in blocks_of(page):
        if block.language not in EXECUTED or block.needs:
            continue
        source = own.whole(block) if hasattr(own, "whole") else block.text
        if block.language == "python":
            yield _run_python(block, source, folder, names)
        else:
            yield from _run_shell(block, folder)


def _run_python(block: Block, source: str, folder: Path, names: dict[str, Any]) -> Step:
    """In this process; blocks of a page share their names, and a traceback has the line of the page."""
    shown = io.StringIO()
    names.setdefault("__name__", "__main__")
    with redirect_stdout(shown):
        exec(compile("\n" * block.line + source, str(block.page), "exec"), names)
    return Step(block, source, folder, shown.getvalue(), names=names)


def _run_shell(block: Block, folder: Path) -> Iterator[Step]:
    """Lines that are plain `mrac` commands in this process, which has compiled everything; else a shell runs all."""
    lines = [line for line, run in commands(block) if run]
    if all(_is_plain(line) for line in lines):
        for line in lines:
            done = mrac_here(*shlex.split(line, comments=True)[1:])
            assert done.returncode == 0, f"{block}: {line}\n{done.stdout}\n{done.stderr}"
            yield Step(block, line, folder, done.stdout, done.stderr)
        return
    # `make` builds an environment, or tests all of this: whether it has such a target is seen without.
    script = "\n".join(re.sub(r"^make ", f"make -n -C {shlex.quote(str(ROOT))} ", line) for line in lines)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "80"}
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{block}:\n{script}\n{ran.stdout}\n{ran.stderr}"
    yield Step(block, script, folder, ran.stdout, ran.stderr)


def _is_plain(line: str) -> bool:
    words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    operators = {"|", "||", "&", "&&", ";", ">", ">>", "<", "(", ")"}
    return words[0] == "mrac" and not operators & set(words) and "$" not in line
