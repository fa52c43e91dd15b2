"""The curve over the number of anchors."""

import numpy as np

from mrac.lab.studies.beyond.anchor_count import BUDGETS, curve, few_anchors, lowest, monotone
from mrac.lab.studies.beyond.grid import ORACLE
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.beyond.section import NOT_THERE
from tests.lab.studies.beyond.made import readings, results, row, sweep


def test_a_rise_beyond_noise_is_seen() -> None:
    assert monotone(results(sweep(OURS, lambda K: 1.0 / K))).parts == (True,) * 4
    outcome = monotone(results(sweep(OURS, lambda K: 0.2 if K == 100 else 0.1)))
    assert outcome.parts == (False,) * 4
    assert outcome.here.startswith("NYUv2 rises from K = 50 to 100 by 0.1000 [0.1000, 0.1000]. KITTI-15")


def test_a_rise_within_noise_is_none() -> None:
    rng = np.random.default_rng(1)
    rows = [one | {"abs_rel": rng.uniform(0.1, 0.2)} for one in sweep(OURS, lambda _: 0.1)]
    outcome = monotone(results(rows))
    assert outcome.parts == (True,) * 4
    assert "NYUv2 never rises beyond noise; within noise from" in outcome.here


def test_cells_that_failed_whole_are_missing() -> None:
    rows = [one | {"abs_rel": None, "failure": "E: no", "status": "failed"} for one in sweep(OURS, lambda _: 0.1)]
    section = curve(results([*rows, *sweep("vanilla", lambda _: 0.1), *readings(OURS, 0.1, 0.5)]))
    assert [one.verdict for one in section.checks[:2]] == [NOT_THERE, "does not hold"]


def test_a_budget_that_is_missing_is_no_success() -> None:
    outcome = monotone(results(sweep(OURS, lambda K: 1.0 / K, BUDGETS[:-1])))
    assert outcome.parts == (False,) * 4
    assert "(K = 2000 not run)" in outcome.here


def test_ours_is_under_every_other_or_not() -> None:
    rows = [*sweep(OURS, lambda K: 1.0 / K), *sweep("vanilla", lambda K: 1.0 / K + (0.01 if K != 25 else -0.01))]
    rows += sweep(ORACLE, lambda _: 0.0)  # our own head, told the truth, is no rival
    outcome = lowest(results(rows))
    assert outcome.parts == (False,) * 4
    assert outcome.here.startswith("NYUv2 not under `vanilla` at K = 25. KITTI-15")
    drawn = curve(results(rows))
    assert [table.key for table in drawn.tables] == ["curve-nyu", "curve-kitti15", "curve-sunrgbd", "curve-tum"]
    assert [one.label for one in drawn.tables[0].rows] == [OURS, ORACLE, "vanilla"]


def test_with_no_anchor_or_one_it_says_so() -> None:
    rows = [row("nyu", OURS, 0.2, num_anchors=1, status="one_anchor"), row("nyu", OURS, 0.1)]
    assert few_anchors(results(rows)).parts == (True, False)  # K = 0 was not run
    rows += [row("nyu", OURS, 0.2, num_anchors=0, status="ok")]
    assert few_anchors(results(rows)).parts == (False, True)
