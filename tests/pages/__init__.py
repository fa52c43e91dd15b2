"""The Markdown pages of this repository and the code on them; tests/e2e/test_pages.py runs it.

Blocks of the languages `python` and `sh` are run, a page's in their order, in one temporary folder. What cannot run in
a test says so where a reader of the source sees it:

- a block: `<!-- not executed: needs WHAT -->` on the line above it;
- a line of a shell block: a comment `# ... needs WHAT` at its end.

A page without such a module whose code tests/e2e/test_docs_NAME.py runs (it reads `NAME.md`) is left to that test.
A page that needs files, names or checks of its own has a module here of the same name: `docs/sensors.md` has
`docs_sensors.py`. All in it is optional:

- `LAB = True`: the page needs torch and the like, or a minute; `make test-all` runs it.
- `write(folder)`: makes the files that the page names.
- `names()`: what its Python may use without having defined it.
- `whole(block)`: the source of a block that is a part of something larger.
- `Check`: a class; an instance is called with every `run.Step` once it is done, and `finish()` at the end.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
EXECUTED: Final = ("python", "sh")
SHOWN: Final = ("", "cpp", "csv", "json", "text", "toml", "yaml")
"""Languages of what is no program for a reader to run: data, diagrams, output, other languages."""
_MARK: Final = re.compile(r"<!-- not executed: needs (\S.*\S) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language and text; `needs`: why it is not run, or empty."""

    page: Path
    line: int
    language: str
    text: str
    needs: str = ""

    def __str__(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def pages() -> list[Path]:
    """All pages that people read, the generated ones left out."""
    patterns = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/*/README.md", "src/mrac/weights/*.md")
    found = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [path for path in found if "generated" not in path.relative_to(ROOT).parts]


def name_of(page: Path) -> str:
    """Its path in the repository."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page; directives of the manual's builder, ```{...}, are none."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = re.match(r"(\s*)(`{3,})(.*)", lines[at])
        if opening is None:
            at += 1
            continue
        indent, fence, language = opening[1], opening[2], opening[3].strip()
        end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == fence), len(lines))
        text = "".join(f"{line.removeprefix(indent)}\n" for line in lines[at + 1 : end])
        mark = _MARK.fullmatch(lines[at - 1].strip()) if at else None
        if not language.startswith("{"):
            found.append(Block(page, at + 1, language, text, mark[1] if mark else ""))
        at = end + 1
    return found


def marks_of(page: Path) -> list[int]:
    """Lines, from 1, of everything that looks like a mark for a block that is not run, well formed or not."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if re.search(r"<!--\s*not executed", line)]


def commands(block: Block) -> list[tuple[str, bool]]:
    """The lines of a shell block, continued ones joined, each with whether it is run: not where it says `needs`."""
    joined = block.text.replace("\\\n", " ").splitlines()
    found = [line.strip() for line in joined if line.strip() and not line.lstrip().startswith("#")]
    return [(line, not block.needs and "needs" not in line.partition(" #")[2]) for line in found]
