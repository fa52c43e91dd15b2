"""The paper's own figures pass every test of its claims, other figures do not."""

from typing import Any

import pytest

from mrac.lab.bench.protocol import Cell, Protocol
from mrac.lab.studies.claim import SEEDS, Claim, NotRunError, Outcome, grid, strict_wins
from mrac.lab.studies.claims import abstract, robustness, substrate
from mrac.lab.studies.claims import page as claims_page
from tests.lab.studies.claims.made import ALL, ERRORS, HEADLINE, Row, claim, printed, results, row, whole


@pytest.mark.parametrize(
    "test",
    [
        abstract.collapses,
        abstract.robust_to_missing,
        abstract.blind_spot,
        abstract.three_times,
        robustness.best_dropout,
        robustness.augmentation,
        robustness.ransac_patch,
        robustness.best_near,
        robustness.worst_near,
        robustness.behind_vanilla,
        robustness.limits,
        substrate.raw_loses,
        substrate.residual_wins,
        substrate.clean_cost,
        substrate.learner_clean,
    ],
)
def test_the_papers_headline_passes_its_own_test(test: Any) -> None:
    assert claim(test).test(results(printed(*HEADLINE, seeds=SEEDS))).verdict == "holds"


@pytest.mark.parametrize(
    ("test", "file"),
    [
        (robustness.kappa_flat, "kappa"),
        (robustness.gate_quality, "kappa"),
        (robustness.gate_over_kappa, "kappa"),
        (robustness.own_budget, "budget"),
        (substrate.one_anchor, "budget"),
        (substrate.stratified, "placement"),
        (substrate.farthest, "placement"),
        (substrate.active, "placement"),
    ],
)
def test_the_papers_studies_pass_their_own_tests(test: Any, file: str) -> None:
    assert claim(test).test(results(printed(file))).verdict == "holds"


def test_the_papers_budgets_pass_their_own_tests() -> None:
    """The paper prints no K = 25, and the curve of the head alone."""
    rows = [*printed("budget"), row("nyu", "vanilla", 0.11, num_anchors=25)]
    assert substrate.u_shape(results(rows)).verdict == "holds"
    served = results([one | {"method": "mrac"} for one in rows if one["set"] == "nyu" and one["method"] == "vanilla"])
    assert abstract.any_budget(served).verdict == "holds"


def test_the_slip_about_lost_anchors_is_caught() -> None:
    """Precision 0.60 and recall 0.64 of 12 wrong ones are 12.8 rejected and 5.1 of 38 right ones lost, not 40 %."""
    hit = {"family": "near", "fraction": 0.25, "gate_precision": 0.6, "gate_recall": 0.64, "num_rejected": 12.8}
    outcome = robustness.lost_anchors(results([row("kitti15", "mrac_b_prime", 0.15, **hit)]))
    assert outcome.here.startswith("13 %")
    assert outcome.verdict == "does not hold"


def test_the_grid_is_counted_as_the_paper_counts_it() -> None:
    full = results(whole(ERRORS))
    outcome = abstract.whole_grid(full)
    assert outcome.verdict == "holds"
    assert outcome.here.startswith("320 of 320 cells (260 different ones")
    assert "64/64 (100 %; uniform 16/16" in abstract.same_backbone(full).here
    assert abstract.twelve(full).here == "12 of 12"
    assert abstract.sixteen(full).here == "16 of 16"
    assert "learner over `b_prime` 64/64" in robustness.scorecard(full).here
    assert robustness.curves(full).verdict == "holds"


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
    only = claims_page.tested(claim(abstract.three_times), results([row("nyu", "vanilla", 0.1)]))
    assert only == ("–", "**not run**")


def cells_of(protocols: str) -> list[Row]:
    """A row for every cell of some protocols."""
    cells: dict[Cell, None] = {}
    for name in protocols.split(", "):
        cells.update(dict.fromkeys(Protocol.read(name).cells()))
    return [row("", cell.method, 0.1) | cell.condition.columns for cell in cells]


@pytest.mark.parametrize("one", [c for c in ALL if ":" not in c.protocol], ids=lambda c: c.test.__qualname__)
def test_the_protocols_that_a_claim_names_have_its_cells(one: Claim) -> None:
    assert isinstance(one.test(results(cells_of(one.protocol))), Outcome)
