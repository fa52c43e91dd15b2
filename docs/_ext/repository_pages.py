"""Sphinx extension: links from the manual to files of the repository that lie outside `docs/`.

Markdown that a reader wants (model cards, CONTRIBUTING, CHANGELOG, the C++ example) becomes pages of the manual in
`docs/generated/repository/`. A link to another file gives the file to download; a link to a folder or to source code
shows its path in the repository. So README, docs and cards keep the links that work in a checkout.
"""

import os
import re
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

_PAGES: Final = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "examples/*/README.md",
    "src/mrac/weights/*.md",
)
_FOLDER: Final = Path("generated") / "repository"
_LINK: Final = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
_FENCED: Final = re.compile(r"(^```.*?^```[ \t]*$)", re.DOTALL | re.MULTILINE)
_DOWNLOADED: Final = {".json", ".csv", ".txt", ".toml", ".cpp"}


def setup(app: Sphinx) -> dict[str, bool]:
    """See Sphinx."""
    app.connect("builder-inited", _copy_pages)
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True}


def _copy_pages(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    folder = docs / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = _pages(docs)
    for source, page in pages.items():
        text = _with_links(source.read_text(encoding="utf-8"), source.parent, docs / page.parent, docs)
        target = docs / page
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    for stale in set(folder.glob("*.md")) - {docs / page for page in pages.values()}:
        stale.unlink()


def _pages(docs: Path) -> dict[Path, Path]:
    """Each file that becomes a page, and that page in the manual's folder."""
    root = docs.parent
    found = [path for pattern in _PAGES for path in sorted(root.glob(pattern))]
    return {path: _FOLDER / ("-".join(_name_parts(path.relative_to(root))) + ".md") for path in found}


def _made(docs: Path) -> dict[Path, Path]:
    """Sources of pages that other extensions write, and those pages."""
    made = {path: Path("generated") / path.relative_to(docs).with_suffix(".rst") for path in docs.glob("*/plot_*.py")}
    made[docs / "gallery"] = Path("generated", "gallery", "index.rst")
    made[docs.parent / "src" / "mrac" / "cli" / "__init__.py"] = Path("generated", "commands", "index.md")
    return made


def _name_parts(path: Path) -> tuple[str, ...]:
    if path.parts[0] == "examples":
        return ("example", path.parts[1])
    return ("card", path.stem) if "weights" in path.parts else (path.stem.lower(),)


def _rewrite(app: Sphinx, name: str, content: list[str]) -> None:
    docs = Path(app.srcdir)
    path = docs / f"{name}.md"
    if path.exists() and not name.startswith(f"{_FOLDER.parts[0]}/"):
        content[0] = _with_links(content[0], path.parent, path.parent, docs)


def _with_links(text: str, here: Path, there: Path, docs: Path) -> str:
    """The text of a page in the folder `here` with its links as a page in `there` needs them; code is left alone."""
    pages = _pages(docs) | _made(docs)
    parts = _FENCED.split(text)  # prose and fenced code in turn
    parts[::2] = [_LINK.sub(lambda link: _link(link, here, there, docs, pages), prose) for prose in parts[::2]]
    return "".join(parts)


def _link(link: re.Match[str], here: Path, there: Path, docs: Path, pages: dict[Path, Path]) -> str:
    words, anchor = link[1], link[3] or ""
    target = Path(os.path.normpath(here / link[2]))
    if target in pages:
        target = docs / pages[target]
    elif not target.is_relative_to(docs) and not (target.is_file() and target.suffix in _DOWNLOADED):
        path = os.path.relpath(target, docs.parent)
        return f"{words}" if path.rstrip("/") in words else f"{words} (`{path}`)"
    if here == there and target == Path(os.path.normpath(here / link[2])):
        return link[0]
    return f"[{words}]({Path(os.path.relpath(target, there)).as_posix()}{anchor})"
