"""How claims of the paper's grid are counted, and which protocols have their cells."""

import pytest

from mrac.lab.bench.protocol import Cell, Protocol, protocol_names
from mrac.lab.studies.claim import Claim, NotRunError, Outcome, grid, strict_wins
from mrac.lab.studies.claims import abstract, robustness
from mrac.lab.studies.claims import page as claims_page
from tests.lab.studies.claims.made import ALL, ERRORS, HEADLINE, Row, printed, results, row, whole


def test_the_grid_is_counted_as_the_paper_counts_it() -> None:
    full = results(whole(ERRORS))
    outcome = abstract.whole_grid(full)
    assert outcome.verdict == "holds"
    assert outcome.here.startswith("320 of 320 cells (260 different ones")
    assert "64/64 (100 %; uniform 16/16" in abstract.same_backbone(full).here
    assert abstract.twelve(full).here == "12 of 12"
    assert abstract.sixteen(full).here == "16 of 16"
    assert "learner over `b_prime` 64/64" in robustness.scorecard(full).here


def test_a_tie_is_no_win_and_neither_is_a_failure() -> None:
    tied = results(whole(ERRORS | {"mrac": 0.3}))
    assert not any(strict_wins(tied, "mrac", "vanilla", grid()))
    failed = [one | {"abs_rel": None, "failure": "E: no"} if one["method"] == "mrac" else one for one in whole(ERRORS)]
    assert not any(strict_wins(results(failed), "mrac", "vanilla", grid()))
    assert "104 images failed" in abstract.whole_grid(results(failed)).here


def test_anchors_that_differ_between_methods_are_seen() -> None:
    rows = whole(ERRORS)
    rows[-1] = rows[-1] | {"anchors_hash": "y"}
    outcome = abstract.whole_grid(results(rows))
    assert "NOT the same" in outcome.here
    assert outcome.verdict == "in part (1 of 2)"


def test_a_missing_cell_is_not_run_and_no_seed_stands_for_three() -> None:
    with pytest.raises(NotRunError):
        abstract.three_times(results(printed(*HEADLINE)))
    only = claims_page.verdict_on(ALL["three_times"], results([row("nyu", "vanilla", 0.1)]), "")
    assert only.verdict == "not measured"
    assert only.here == "no rows: `sml_retrained` on KITTI-15, family near, fraction 0.25, seed 0"


def cells_of(protocols: str) -> list[Row]:
    """A row for every cell of some protocols."""
    cells: dict[Cell, None] = {}
    for name in protocols.split(", "):
        cells.update(dict.fromkeys(Protocol.read(name).cells()))
    return [row("", cell.method, 0.1) | cell.condition.columns for cell in cells]


# What the others name is no protocol: files, methods, or a protocol with other methods.
NAMED = [one for one in ALL.values() if set(one.protocol.split(", ")) <= set(protocol_names())]


@pytest.mark.parametrize("one", NAMED, ids=lambda one: one.name)
def test_the_protocols_that_a_claim_names_have_its_cells(one: Claim) -> None:
    assert isinstance(one.test(results(cells_of(one.protocol))), Outcome)
