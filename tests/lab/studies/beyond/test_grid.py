"""Targets, wins and regrets over the paper's grid."""

import pytest

from mrac.lab.studies.beyond.grid import MUST, ORACLE, SIX, corrupted_ratio, judged, nyu, reaches, regrets, wins
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.claim import NotRunError
from mrac.lab.studies.claims import own
from tests.lab.studies.beyond.made import NARROW, grid, results, row


def test_the_targets_are_those_that_the_claims_ask_for() -> None:
    assert tuple(own._MUST.values()) == MUST


def test_a_target_is_reached_or_missed() -> None:
    outcome = reaches(results(grid(OURS, 0.06, images="a")), MUST)
    assert outcome.parts == (False, True, True, True, True, True, True)
    assert "clean 0.060 (0.050, missed), near 25 0.060 (0.064)" in outcome.here


def test_the_table_compares_methods_on_the_images_that_ours_has() -> None:
    section = nyu(results([*grid(OURS, 0.1, images="a"), *grid("vanilla", 0.2), *grid(NARROW, 0.1)]))
    rows = {one.label: one.entries for one in section.tables[0].rows}
    assert rows["vanilla"][0].value == pytest.approx(0.2)
    assert rows["vanilla"][-1].text == "1"
    assert NARROW not in rows
    assert "the same anchors in each of 416 draws" in section.notes[0]


def test_anchors_that_differ_are_told() -> None:
    rows = [row("nyu", OURS, 0.1), row("nyu", "vanilla", 0.1, anchors_hash="y")]
    assert nyu(results(rows)).notes[0].startswith("NOT the same anchors")


def test_wins_are_counted_as_the_paper_counts() -> None:
    rows = grid(OURS, 0.1)
    for place, method in enumerate(SIX):
        rows += grid(method, lambda c, place=place: 0.05 if place == 0 and c.set == "tum" else 0.2 + 0.01 * place)  # type: ignore[misc]
    checks = wins(results(rows)).checks
    assert checks[0].verdict == "in part (5 of 6)"
    assert checks[0].outcome is not None
    assert "`vanilla` 48 [48, 48] of 64, `b_prime` 64 [64, 64] of 64" in checks[0].outcome.here


def test_the_ratio_is_to_the_best_of_the_six() -> None:
    rows = [*grid(OURS, 0.1), *(one for place, m in enumerate(SIX) for one in grid(m, 0.2 + 0.1 * place))]
    outcome = corrupted_ratio(results(rows))
    assert "best of the others `vanilla`" in outcome.here
    assert "0.500 × [0.500, 0.500], 48 of 48 cells, 8 images of each set" in outcome.here
    assert outcome.parts == (True,)
    worse = [one | {"abs_rel": 1.2 * one["abs_rel"]} if one["method"] == OURS else one for one in rows]
    assert corrupted_ratio(results(worse)).parts == (False,)
    with pytest.raises(NotRunError):  # the one that is missing might be the best
        corrupted_ratio(results(one for one in rows if one["method"] != "mrac"))


def test_a_regret_is_judged_by_how_much_is_wrong() -> None:
    rows = [*grid(OURS, 0.11), *grid(ORACLE, 0.1)]
    outcome = judged(results(rows), 0)
    assert outcome.parts == (False, True, True)  # 10 % where 3, 12 and 35 are allowed
    assert judged(results(rows), 1).parts == (False, False, True)
    assert outcome.here.startswith("clean: 10.0 % [10.0, 10.0] (3 %, missed), 10 and 25 %: 10.0 %")
    table = regrets(results(rows)).tables[0]
    assert [one.label for one in table.rows][:5] == ["NYUv2", "KITTI-15", "SUN RGB-D", "TUM", "all sets"]
