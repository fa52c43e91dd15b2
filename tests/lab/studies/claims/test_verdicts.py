"""Every verdict can fail: the figures of a claim pass its test, figures on the other side fail every part of it."""

from pathlib import Path

import pytest

from mrac.lab.bench.report.paper import read_rows
from mrac.lab.studies.claim import NOT_MEASURED, Claim, NotRunError, Outcome, grid, strict_wins
from mrac.lab.studies.claims import abstract, gate, robustness
from mrac.lab.studies.claims.page import all_claims
from tests.lab.studies.claims.cases import CASES, kappa
from tests.lab.studies.claims.made import ALL, OURS, papers_grid, results, row


def claim(name: str, files: Path) -> Claim:
    return next(one for claims in all_claims(files).values() for one in claims if one.name == name)


def test_every_claim_has_figures_that_pass_and_figures_that_fail() -> None:
    names = [one.name for claims in all_claims(Path("nowhere")).values() for one in claims]
    assert len(set(names)) == len(names)
    assert set(CASES) == set(names), "a claim needs a pair in tests/lab/studies/claims/cases.py"


@pytest.mark.parametrize("name", ALL)
def test_the_figures_of_the_claim_pass(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = claim(name, tmp_path).test(results(CASES[name].passes((tmp_path, monkeypatch))))
    assert outcome.verdict == "holds", outcome


@pytest.mark.parametrize("name", ALL)
def test_figures_on_the_other_side_fail_every_part(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = claim(name, tmp_path).test(results(CASES[name].fails((tmp_path, monkeypatch))))
    assert outcome.verdict == "does not hold", outcome


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("no_parameters", "one_call")])
def test_without_its_figures_nothing_is_passed(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotRunError):
        claim(name, tmp_path).test(results([row("void", "nearest", 0.1)]))


def test_a_verdict_without_a_part_is_none() -> None:
    assert Outcome("", ()).verdict == NOT_MEASURED
    assert Outcome("", (True, False)).verdict == "in part (1 of 2)"


def test_the_made_grid_is_the_papers_scorecard() -> None:
    """What stands in for the 16 tables that the source at hand lacks wins as often as the paper says."""
    made = results(papers_grid())
    for one in read_rows("scorecard"):
        ours, theirs = (OURS.get(one[name], one[name]) for name in ("method", "against"))
        cells = [
            c
            for c in grid()
            if one["family"] in ("", c.family)
            and one["set"] in ("", "kitti" if c.set == "kitti15" else c.set)
            and (one["fractions"] == "all" or c.fraction > 0)
        ]
        assert (sum(strict_wins(made, ours, theirs, cells)), len(cells)) == (int(one["wins"]), int(one["cells"])), one
    assert "54/64 (84 %" in abstract.same_backbone(made).here
    assert "52/64 (dropout 15/16, near 10/16)" in robustness.scorecard(made).here


def test_precision_is_judged_on_inverse_depth_and_shown_on_both() -> None:
    rows = kappa()
    both = ALL["gate_quality"].test(results(rows))
    assert both.here.startswith("in inverse depth: precision 0.75, recall 0.83; hardest KITTI-15 near (0.60 / 0.64)")
    assert "in depth: precision 0.75" in both.here
    in_depth = results([one for one in rows if "inverse" not in one["method"]])
    for name in ("gate_quality", "gate_over_kappa", "lost_anchors"):
        outcome = ALL[name].test(in_depth)
        assert outcome.verdict == NOT_MEASURED
        assert outcome.here.startswith("in inverse depth: not measured; in depth: ")


def test_the_gate_is_found_behind_any_head_but_not_on_another_network() -> None:
    near = {"family": "near", "fraction": 0.25}
    names = (
        "cfa_ols;foundation=embedded:space=inverse_depth;gate=theil_sen_mad:kappa=3",
        "mrac;foundation=none",
        "mrac;foundation=embedded:space=inverse_depth;space=inverse_depth",
    )
    rows = [row("kitti15", name, 0.1, **near) for name in (*names, "somebody_elses", "default")]
    assert gate.on_field(results(rows), "inverse depth", 3.0) == names[0]
    with pytest.raises(NotRunError, match="κ = 2 on inverse depth"):
        gate.on_field(results(rows), "inverse depth", 2.0)
