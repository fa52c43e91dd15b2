from typing import Any

import numpy as np
import pytest

from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.wins import Comparison, Wins, count_wins
from tests.lab.bench.report.made import Row, cell, context, grid

FAMILIES = ("uniform", "near", "dropout", "mixed_pixel")


def counted(rows: list[Row], *, missing: tuple[CellKey, ...] = (), **more: Any) -> Wins:
    sets = sorted({row["set"] for row in rows})
    comparison = Comparison(**{"method": "mrac", "against": "vanilla", "sets": sets, "families": FAMILIES, **more})
    return count_wins(context(rows, missing=missing), comparison)


def test_the_paper_s_grid_has_64_cells_of_which_52_are_distinct() -> None:
    rows = grid({"mrac": 0.1, "vanilla": 0.2}, sets=("nyu", "kitti15", "sunrgbd", "tum"))
    wins = counted(rows)
    assert (wins.wins, wins.cells) == (64, 64)
    assert (wins.distinct_wins, wins.distinct_cells) == (52, 52)
    assert (wins.low, wins.high) == (64, 64)
    assert (wins.missing, wins.failed) == (0, 0)


def test_a_clean_cell_counts_once_for_each_family() -> None:
    better: dict[str, Any] = {"family": "near", "fraction": 0.25}
    rows = [*cell("mrac", [0.3, 0.3]), *cell("vanilla", [0.2, 0.2])]
    rows += [*cell("mrac", [0.1, 0.1], **better), *cell("vanilla", [0.2, 0.2], **better)]
    worse: dict[str, Any] = {"family": "dropout", "fraction": 0.25}
    rows += [*cell("mrac", [0.3, 0.3], **worse), *cell("vanilla", [0.2, 0.2], **worse)]
    assert (counted(rows).wins, counted(rows).cells) == (1, 4)
    assert (counted(rows).distinct_wins, counted(rows).distinct_cells) == (1, 3)
    assert (counted(rows, families=["near"]).wins, counted(rows, families=["near"]).cells) == (1, 2)
    only = counted(rows, families=["near"], corrupted=True)
    assert (only.wins, only.cells) == (1, 1)


def test_an_equal_cell_is_no_win_for_either() -> None:
    rows = grid({"mrac": 0.1, "vanilla": 0.1}, sets=("nyu",))
    assert counted(rows).wins == 0
    assert counted(rows, method="vanilla", against="mrac").wins == 0


def test_the_interval_is_wide_where_images_disagree_and_nil_where_they_agree() -> None:
    rng = np.random.default_rng(0)
    even = rng.normal(0.2, 0.05, (2, 40)).tolist()
    near: dict[str, Any] = {"family": "near", "fraction": 0.25}
    rows = [*cell("mrac", even[0], **near), *cell("vanilla", even[1], **near)]
    unsure = counted(rows, families=["near"])
    assert (unsure.low, unsure.high) == (0, 1)
    paired = [*cell("mrac", even[1], **near), *cell("vanilla", [value + 0.001 for value in even[1]], **near)]
    sure = counted(paired, families=["near"])
    # By 0.001 on each image, a fiftieth of the spread between images: only because both see the same ones.
    assert (sure.wins, sure.low, sure.high) == (1, 1, 1)


def test_a_missing_cell_is_told_and_not_counted() -> None:
    rows = grid({"mrac": 0.1, "vanilla": 0.2}, sets=("nyu",))
    gone = [row for row in rows if (row["method"], row["family"]) != ("mrac", "near")]
    wins = counted(gone)
    assert (wins.wins, wins.cells, wins.missing) == (13, 13, 3)
    no_clean = [row for row in rows if (row["method"], row["fraction"]) != ("mrac", 0.0)]
    assert counted(no_clean).missing == 4


def test_failed_images_are_left_out_of_both_and_counted() -> None:
    near: dict[str, Any] = {"family": "near", "fraction": 0.25}
    # The image on which mrac failed is the one that vanilla does well on; alone it would turn the mean.
    rows = [*cell("mrac", [None, 0.20, 0.20], **near), *cell("vanilla", [0.01, 0.21, 0.21], **near)]
    wins = counted(rows, families=["near"])
    assert (wins.wins, wins.failed) == (1, 1)


def test_other_seeds_are_not_compared_with_each_other() -> None:
    near: dict[str, Any] = {"family": "near", "fraction": 0.25}
    rows = [*cell("mrac", [0.1], seed=1, **near), *cell("vanilla", [0.2], **near)]
    wins = counted(rows, families=["near"])
    assert (wins.cells, wins.missing) == (0, 1)


@pytest.mark.parametrize("num_images", [435])
def test_a_thousand_resamples_of_a_large_set_agree_with_a_loop(num_images: int) -> None:
    rng = np.random.default_rng(3)
    near: dict[str, Any] = {"family": "near", "fraction": 0.25}
    ours, theirs = rng.normal(0.2, 0.05, num_images), rng.normal(0.203, 0.05, num_images)
    rows = [*cell("mrac", ours.tolist(), **near), *cell("vanilla", theirs.tolist(), **near)]
    wins = counted(rows, families=["near"])
    draws = rng.integers(num_images, size=(1000, num_images))
    share = np.mean((ours - theirs)[draws].mean(axis=1) < 0)
    assert wins.high == int(share > 0.025)
    assert wins.low == int(share > 0.975)
