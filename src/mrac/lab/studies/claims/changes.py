"""The short list of what changed in the results, and why: written once, in CHANGELOG.md, shown beside the verdicts."""

from pathlib import Path
from typing import Final

TITLE: Final = "What changed in the results, and why"


def changes(changelog: Path) -> list[str]:
    """The items of the first list under that heading, one line each; nothing where the file has no such heading."""
    if not changelog.is_file():
        return []
    _, _, rest = changelog.read_text(encoding="utf-8").partition(f"### {TITLE}\n")
    items: list[str] = []
    for line in rest.strip().splitlines():
        if line.startswith("- "):
            items.append(line.removeprefix("- "))
        elif line.startswith("  ") and items:
            items[-1] += f" {line.strip()}"
        else:
            break
    return items


def section(changelog: Path) -> str:
    """Markdown, or nothing."""
    items = changes(changelog)
    return f"## {TITLE}\n\n{''.join(f'- {item}{chr(10)}' for item in items)}" if items else ""
