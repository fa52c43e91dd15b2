"""The README's table of results is what the rows in results/ say."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

CHECKOUT = Path(__file__).parents[2]
SETS = ("nyu", "kitti15", "sunrgbd", "tum")
FAMILIES = ("near", "dropout", "uniform", "mixed_pixel")
FRACTIONS = (0.1, 0.25, 0.4)
COLUMNS = {
    "clean": ("none", 0.0),
    "near 25 %": ("near", 0.25),
    "near 40 %": ("near", 0.4),
    "dropout 40 %": ("dropout", 0.4),
    "uniform 40 %": ("uniform", 0.4),
    "mixed pixel 40 %": ("mixed_pixel", 0.4),
}
WORDS = {"the same head, outliers removed (oracle)": "default;gate=oracle"}
Cells = dict[tuple[str, str, float], float]


def table() -> dict[str, dict[str, float]]:
    """The README's figures by method and column."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^\| method \| clean .*?\n\n", text, re.DOTALL | re.MULTILINE)
    head, _, *lines = (re.sub(r"\*\*", "", line).strip("| ").split(" | ") for line in found.splitlines() if line)
    assert head == ["method", *COLUMNS, "all corrupted"]
    rows = {}
    for words, *figures in lines:
        named = re.match(r"`([^`]+)`", words)
        rows[named[1] if named else WORDS[words]] = dict(zip(head[1:], map(float, figures), strict=True))
    return rows


def cells(method: str) -> Cells:
    """Mean AbsRel over images by set, family and fraction: of the newest run of the paper's whole grid."""
    newest = lambda path: path.relative_to(CHECKOUT / "results").parts[0].rpartition("--")[2]  # noqa: E731
    for path in sorted((CHECKOUT / "results").rglob("rows.parquet"), key=newest, reverse=True):
        if json.loads((path.parent / "run.json").read_bytes())["protocol"]["name"] not in ("paper", "beyond"):
            continue  # these two have the same grid
        names = ["set", "family", "fraction", "abs_rel"]
        rows = pq.read_table(path, columns=names, filters=[("method", "==", method), ("seed", "==", 0)])
        groups = rows.group_by(names[:3]).aggregate([("abs_rel", "mean")]).to_pylist()
        found = {(one["set"], one["family"], one["fraction"]): one["abs_rel_mean"] for one in groups}
        if {(name, family, share) for name in SETS for family in FAMILIES for share in FRACTIONS} <= set(found):
            return found
    raise AssertionError(f"no run of the paper's grid has {method}")


@pytest.mark.parametrize("method", table())
def test_each_figure_is_that_of_the_rows(method: str) -> None:
    found = cells(method)
    expected = {column: found["nyu", *condition] for column, condition in COLUMNS.items()}
    corrupted = [value for (_, family, share), value in found.items() if family in FAMILIES and share in FRACTIONS]
    assert len(corrupted) == len(SETS) * len(FAMILIES) * len(FRACTIONS)
    expected["all corrupted"] = float(np.mean(corrupted))
    stated = table()[method]
    wrong = {name: (stated[name], value) for name, value in expected.items() if f"{stated[name]:.3f}" != f"{value:.3f}"}
    assert not wrong, "README, and what results/ has"


def test_the_best_of_a_column_is_bold() -> None:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\| \*\*`default`\*\* .*$", text, re.MULTILINE)
    rivals = [row for name, row in table().items() if name not in ("default", "default;gate=oracle")]
    own = table()["default"]
    for column, figure in own.items():
        assert (f"**{figure:.3f}**" in line) == all(figure <= row[column] for row in rivals), column
