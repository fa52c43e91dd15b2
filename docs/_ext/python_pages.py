"""Sphinx extension: docstrings and signatures of `mrac` as the manual shows them.

Array types have the names of `mrac.conventions` in signatures, and its glossary, written for a reader of the source,
becomes a list of definitions.
"""

import re
import shutil
from pathlib import Path
from typing import Any, Final

from numpy.typing import ArrayLike
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

from mrac.conventions import BoolArray, FloatArray, ImageArray, TextArray

_TYPES: Final = {
    "ArrayLike": ArrayLike,
    "FloatArray": FloatArray,
    "BoolArray": BoolArray,
    "ImageArray": ImageArray,
    "TextArray": TextArray,
}


def setup(app: Sphinx) -> dict[str, bool]:
    """See Sphinx."""
    app.connect("config-inited", _start_anew)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("autodoc-process-docstring", _glossary)
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True}


def _start_anew(app: Sphinx, config: Any) -> None:
    """Removes the pages of an earlier build: autosummary leaves those of names that are gone."""
    shutil.rmtree(Path(app.srcdir) / "generated" / "python", ignore_errors=True)


def _short_types(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    return _shortened(signature), _shortened(returns)


def _shortened(text: str | None) -> str | None:
    """Sphinx has written each alias out in full; it does so in the same way here, and the name takes its place."""
    if text is None:
        return None
    for name, alias in _TYPES.items():
        for mode in ("smart", "fully-qualified-except-typing", "fully-qualified"):
            text = text.replace(stringify_annotation(alias, mode), name)
    return text.replace("<factory>", "...")  # of a dataclass: no Python, so that nothing of it would be set as such


def _glossary(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if name != "mrac.conventions" or "Glossary" not in lines:
        return
    start = lines.index("Glossary")
    shown: list[str] = [".. rubric:: Glossary", ""]
    for line in lines[start + 1 :]:
        if re.match(r" {4}\S", line):
            term, _, words = line.strip().partition(": ")
            shown += [term, f"    {words}"]
        elif line.strip():
            shown.append(f"    {line.strip()}")
    lines[start:] = shown
