"""Cuts what is missing of a run into tasks: an image is decoded and predicted once for all cells of a task."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Final

from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.work import Task

# Cells that are worked on side by side. More share one decoded image; fewer are finished sooner. At 72, decoding and
# fetching the prediction are 1 % of the paper's grid, and a sixth of a set's cells is finished at a time.
_BLOCK: Final = 72
# Rows of a task, roughly: seconds of work, which is what a kill costs.
_TASK: Final = 40


def plan(cells: Sequence[Cell], num_images: Mapping[str, int], there: Mapping[Cell, Collection[int]]) -> list[Task]:
    """The tasks that are left.

    Args:
        cells: those that are not finished, in the order in which they should be.
        num_images: of each set.
        there: images of which a cell has a row already.
    """
    tasks = []
    for block in _blocks(cells):
        set_name = block[0].condition.set_name
        # What is missing differs from image to image only where a run was interrupted.
        missing = [tuple(cell for cell in block if i not in there.get(cell, ())) for i in range(num_images[set_name])]
        for wanted, images in groupby(range(len(missing)), missing.__getitem__):
            if wanted:
                size = max(_TASK // len(wanted), 1)
                own = tuple(images)
                tasks += [Task(set_name, own[i : i + size], wanted) for i in range(0, len(own), size)]
    return tasks


def _blocks(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells of one set, conditions whole: the methods of a condition share its anchors."""
    by_condition: dict[Condition, list[Cell]] = {}
    for cell in cells:
        by_condition.setdefault(cell.condition, []).append(cell)
    blocks: list[list[Cell]] = []
    for condition, own in by_condition.items():
        last = blocks[-1] if blocks else []
        if last and last[0].condition.set_name == condition.set_name and len(last) + len(own) <= _BLOCK:
            last.extend(own)
        else:
            blocks.append(list(own))
    return blocks
