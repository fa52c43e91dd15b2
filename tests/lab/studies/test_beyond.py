"""What was asked of our own method: figures that are known come out, and what is missing is said."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.lab.bench.protocol import Cell, Condition
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.store import write_about, write_cell
from mrac.lab.studies import beyond, claims_own
from mrac.lab.studies.beyond_grid import (
    MUST,
    ORACLE,
    PAPERS_GATE,
    SIX,
    corrupted_ratio,
    judged,
    nyu,
    reaches,
    regrets,
    wins,
)
from mrac.lab.studies.beyond_pairs import CONDITIONS, OURS, difference, is_variant, pair, ratio, regret
from mrac.lab.studies.beyond_section import NOT_THERE
from mrac.lab.studies.beyond_studies import BUDGETS, curve, few_anchors, lowest, monotone, pooled, real
from mrac.lab.studies.beyond_variants import ablation, leave_one_out, one_for_all
from mrac.lab.studies.claim import SETS, NotRunError

Row = dict[str, Any]
IMAGES = "abcdefgh"
NARROW, WIDE = f"{OURS};gate=consensus:amplitude=0.11", f"{OURS};head=kriging:relative_length=1.6"


def row(set_name: str, method: str, abs_rel: float | None, **more: Any) -> Row:
    given: Row = {
        "set": set_name, "method": method, "family": "none", "fraction": 0.0, "num_anchors": 50, "seed": 0,
        "placement": "random", "source": "truth", "image": "a", "abs_rel": abs_rel, "gate_precision": 0.8,
        "gate_recall": 0.5, "gate_f1": 0.6, "num_wrong": 10, "num_rejected": 10, "anchors_hash": "x", "status": "ok",
        "failure": None,
    }  # fmt: skip
    return given | more


def results(rows: Iterable[Row]) -> Results:
    rows = list(rows)
    return Results({name: [one[name] for one in rows] for name in rows[0]})


def grid(method: str, error: float | Callable[[CellKey], float], images: str = IMAGES) -> list[Row]:
    """Rows of the whole grid, images unlike each other by a factor that all methods share."""
    return [
        row(c.set, method, (error(c) if callable(error) else error) * (1.0 + 0.1 * i), family=c.family,
            fraction=c.fraction, image=image)
        for c in CONDITIONS
        for i, image in enumerate(images)
    ]  # fmt: skip


def sweep(method: str, error: Callable[[int], float], budgets: Iterable[int] = BUDGETS) -> list[Row]:
    return [row(s, method, error(K), num_anchors=K, image=image) for s in SETS for K in budgets for image in IMAGES]


class TestPairs:
    def test_a_pair_is_compared_on_the_images_that_both_have(self) -> None:
        rows = [*grid("x", 0.2), *grid("y", 0.1, images="ab")]
        rows += [row("extra", "x", 9.0), row("extra", "y", 1.0)]  # not of the grid
        both = pair(results(rows), "x", "y")
        assert len(both.conditions) == 52
        assert both.images == "2 images of each set"
        np.testing.assert_allclose(both.ours, 2.0 * both.theirs)
        found = both.figure(ratio)
        assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))

    def test_a_failure_with_one_leaves_the_image_out_for_both(self) -> None:
        rows = [row("nyu", "x", 0.1, image="a"), row("nyu", "x", None, image="b", failure="E: no")]
        rows += [row("nyu", "y", 0.2, image="a"), row("nyu", "y", 9.0, image="b")]
        both = pair(results(rows), "x", "y")
        assert (both.ours.tolist(), both.theirs.tolist(), both.num_images.tolist()) == ([0.1], [0.2], [1])

    def test_what_was_not_run_cannot_be_compared(self) -> None:
        some = results(grid("x", 0.1))
        with pytest.raises(NotRunError):
            pair(some, "x", "y")
        with pytest.raises(NotRunError):
            pair(some, "x", "x").only(lambda c: c.fraction == 0.9)

    def test_each_cell_weighs_the_same_in_a_regret(self) -> None:
        a, b = np.array([0.2, 10.0]), np.array([0.1, 10.0])
        assert float(regret(a, b)) == pytest.approx(0.5)
        assert float(ratio(a, b)) == pytest.approx(10.2 / 10.1)

    def test_an_interval_knows_noise_from_a_difference(self) -> None:
        noise = np.random.default_rng(0).normal(size=(2, 60))
        assert difference(noise, "nyu").low < 0.0 < difference(noise, "nyu").high
        assert difference(noise + np.array([[2.0], [0.0]]), "nyu").low > 0.0

    @pytest.mark.parametrize(
        ("method", "expected"),
        [(NARROW, True), (WIDE, True), (OURS, False), (ORACLE, False), ("vanilla;gate=ransac:a=1", False)],
    )
    def test_a_variant_is_ours_with_other_numbers(self, method: str, expected: bool) -> None:
        assert is_variant(method) is expected


class TestGrid:
    def test_the_targets_are_those_that_the_claims_ask_for(self) -> None:
        assert tuple(claims_own._MUST.values()) == MUST

    def test_a_target_is_reached_or_missed(self) -> None:
        outcome = reaches(results(grid(OURS, 0.06, images="a")), MUST)
        assert outcome.parts == (False, True, True, True, True, True, True)
        assert "clean 0.060 (0.050, missed), near 25 0.060 (0.064)" in outcome.here

    def test_the_table_compares_methods_on_the_images_that_ours_has(self) -> None:
        section = nyu(results([*grid(OURS, 0.1, images="a"), *grid("vanilla", 0.2), *grid(NARROW, 0.1)]))
        rows = {one.label: one.entries for one in section.tables[0].rows}
        assert rows["vanilla"][0].value == pytest.approx(0.2)
        assert rows["vanilla"][-1].text == "1"
        assert NARROW not in rows
        assert "the same anchors in each of 416 draws" in section.notes[0]

    def test_anchors_that_differ_are_told(self) -> None:
        rows = [row("nyu", OURS, 0.1), row("nyu", "vanilla", 0.1, anchors_hash="y")]
        assert nyu(results(rows)).notes[0].startswith("NOT the same anchors")

    def test_wins_are_counted_as_the_paper_counts(self) -> None:
        rows = grid(OURS, 0.1)
        for place, method in enumerate(SIX):
            rows += grid(method, lambda c, place=place: 0.05 if place == 0 and c.set == "tum" else 0.2 + 0.01 * place)  # type: ignore[misc]
        checks = wins(results(rows)).checks
        assert checks[0].verdict == "in part (5 of 6)"
        assert checks[0].outcome is not None
        assert "`vanilla` 48 [48, 48] of 64, `b_prime` 64 [64, 64] of 64" in checks[0].outcome.here

    def test_the_ratio_is_to_the_best_of_the_six(self) -> None:
        rows = [*grid(OURS, 0.1), *(one for place, m in enumerate(SIX) for one in grid(m, 0.2 + 0.1 * place))]
        outcome = corrupted_ratio(results(rows))
        assert "best of the others `vanilla`" in outcome.here
        assert "0.500 × [0.500, 0.500], 48 of 48 cells, 8 images of each set" in outcome.here
        assert outcome.parts == (True,)
        worse = [one | {"abs_rel": 1.2 * one["abs_rel"]} if one["method"] == OURS else one for one in rows]
        assert corrupted_ratio(results(worse)).parts == (False,)
        with pytest.raises(NotRunError):  # the one that is missing might be the best
            corrupted_ratio(results(one for one in rows if one["method"] != "mrac"))

    def test_a_regret_is_judged_by_how_much_is_wrong(self) -> None:
        rows = [*grid(OURS, 0.11), *grid(ORACLE, 0.1)]
        outcome = judged(results(rows), 0)
        assert outcome.parts == (False, True, True)  # 10 % where 3, 12 and 35 are allowed
        assert judged(results(rows), 1).parts == (False, False, True)
        assert outcome.here.startswith("clean: 10.0 % [10.0, 10.0] (3 %, missed), 10 and 25 %: 10.0 %")
        table = regrets(results(rows)).tables[0]
        assert [one.label for one in table.rows][:5] == ["NYUv2", "KITTI-15", "SUN RGB-D", "TUM", "all sets"]


class TestStudies:
    def test_a_rise_beyond_noise_is_seen(self) -> None:
        assert monotone(results(sweep(OURS, lambda K: 1.0 / K))).parts == (True,) * 4
        outcome = monotone(results(sweep(OURS, lambda K: 0.2 if K == 100 else 0.1)))
        assert outcome.parts == (False,) * 4
        assert outcome.here.startswith("NYUv2 rises from K = 50 to 100 by 0.1000 [0.1000, 0.1000]. KITTI-15")

    def test_a_rise_within_noise_is_none(self) -> None:
        rng = np.random.default_rng(1)
        rows = [one | {"abs_rel": rng.uniform(0.1, 0.2)} for one in sweep(OURS, lambda _: 0.1)]
        outcome = monotone(results(rows))
        assert outcome.parts == (True,) * 4
        assert "NYUv2 never rises beyond noise; within noise from" in outcome.here

    def test_cells_that_failed_whole_are_missing(self) -> None:
        rows = [one | {"abs_rel": None, "failure": "E: no", "status": "failed"} for one in sweep(OURS, lambda _: 0.1)]
        section = curve(results([*rows, *sweep("vanilla", lambda _: 0.1), *self.readings(OURS, 0.1, 0.5)]))
        assert [one.verdict for one in section.checks[:2]] == [NOT_THERE, "does not hold"]

    def test_a_budget_that_is_missing_is_no_success(self) -> None:
        outcome = monotone(results(sweep(OURS, lambda K: 1.0 / K, BUDGETS[:-1])))
        assert outcome.parts == (False,) * 4
        assert "(K = 2000 not run)" in outcome.here

    def test_ours_is_under_every_other_or_not(self) -> None:
        rows = [*sweep(OURS, lambda K: 1.0 / K), *sweep("vanilla", lambda K: 1.0 / K + (0.01 if K != 25 else -0.01))]
        rows += sweep(ORACLE, lambda _: 0.0)  # our own head, told the truth, is no rival
        outcome = lowest(results(rows))
        assert outcome.parts == (False,) * 4
        assert outcome.here.startswith("NYUv2 not under `vanilla` at K = 25. KITTI-15")
        drawn = curve(results(rows))
        assert [table.key for table in drawn.tables] == ["curve-nyu", "curve-kitti15", "curve-sunrgbd", "curve-tum"]
        assert [one.label for one in drawn.tables[0].rows] == [OURS, ORACLE, "vanilla"]

    def test_with_no_anchor_or_one_it_says_so(self) -> None:
        rows = [row("nyu", OURS, 0.2, num_anchors=1, status="one_anchor"), row("nyu", OURS, 0.1)]
        assert few_anchors(results(rows)).parts == (True, False)  # K = 0 was not run
        rows += [row("nyu", OURS, 0.2, num_anchors=0, status="ok")]
        assert few_anchors(results(rows)).parts == (False, True)

    def readings(self, method: str, error: float, f1: float) -> list[Row]:
        kinds = [("natural", 0.0, 0), ("enriched", 0.0, 0), ("enriched", 0.25, 10)]
        return [
            row("kitti15", method, error, source="lidar", family=family, fraction=p, num_wrong=wrong, gate_f1=f1,
                seed=seed, image=image, gate_recall=0.5 if wrong else None)
            for family, p, wrong in kinds for seed in (0, 1) for image in "ab"
        ]  # fmt: skip

    def test_real_readings_are_compared_by_error_and_where_some_are_wrong_by_f1(self) -> None:
        rows = [*self.readings(OURS, 0.1, 0.7), *self.readings(PAPERS_GATE, 0.2, 0.7), *self.readings("mrac", 0.0, 0.9)]
        section = real(results(rows))
        outcomes = [check.outcome for check in section.checks]
        assert [one.parts if one else None for one in outcomes] == [
            (True,) * 3,
            (False,),
            (False,),
        ]  # as high is not higher
        assert section.notes == []

    def test_the_papers_own_head_stands_in_and_it_is_said(self) -> None:
        section = real(results([*self.readings(OURS, 0.1, 0.7), *self.readings("mrac", 0.05, 0.6)]))
        outcomes = [check.outcome for check in section.checks]
        assert [one.parts if one else None for one in outcomes] == [
            (False,) * 3,
            (True,),
            (False,),
        ]  # the same anchors were rejected
        assert "`mrac`, the paper's gate before the paper's own head, stands for it" in section.notes[0]

    def test_pooled_verdicts_count_every_anchor_once(self) -> None:
        more: Row = {"source": "lidar", "family": "natural"}
        rows = [
            row("kitti15", "m", 0.1, **more, image="a", num_wrong=9, gate_recall=1.0, num_rejected=9),
            row("kitti15", "m", 0.1, **more, image="b", num_wrong=1, gate_recall=0.0, num_rejected=6),
        ]
        cell = CellKey(set="kitti15", method="m", family="natural", source="lidar")
        assert pooled(results(rows), cell, (0,)) == pytest.approx((9 / 15, 9 / 10, 18 / 25))


class TestVariants:
    def test_the_ablation_tells_what_an_exchange_costs(self) -> None:
        gate = f"{OURS};gate=none"
        rows = [*grid(OURS, 0.1), *grid(gate, lambda c: 0.3 if c.fraction else 0.09), *grid(WIDE, 0.1, images="ab")]
        rows += grid(f"{OURS};gate=consensus", 0.1)  # our own stage under its name is no exchange
        section = ablation(results(rows))
        assert section.checks[0].outcome is not None
        assert section.checks[0].outcome.here == f"`{gate}` 200.0 % [200.0, 200.0]"
        changes = {one.label: one.entries for one in section.tables[1].rows}
        assert [entry.value for entry in changes[gate][:2]] == pytest.approx([-10.0, 200.0])
        assert f"`{WIDE}` 2 images of each set, 52 of 52 conditions" in section.notes[0]
        assert gate not in section.notes[0]

    def test_three_sets_choose_for_the_fourth(self) -> None:
        """One variant gains on KITTI-15 alone: tuning there would buy much, and the others would never choose it."""
        rows = [*grid(OURS, 0.1), *grid(NARROW, lambda c: 0.07 if c.set == "kitti15" else 0.12)]
        found = {one.set_name: one for one in leave_one_out(results(rows), [NARROW])}
        assert all(one.holds for one in found.values())
        assert found["kitti15"].chosen == OURS
        assert found["kitti15"].own == NARROW
        assert found["kitti15"].own_gap is not None
        assert found["kitti15"].own_gap.value == pytest.approx(0.1 / 0.07 - 1.0)

    def test_a_better_variant_everywhere_is_told(self) -> None:
        rows = [*grid(OURS, 0.1), *grid(NARROW, 0.095), *grid(WIDE, 0.0995)]
        section = one_for_all(results(rows))
        assert section.checks[0].verdict == "does not hold"
        within = one_for_all(results(one for one in rows if one["method"] != NARROW))
        assert within.checks[0].verdict == "holds"  # half a percent
        assert within.tables[0].rows[0].entries[0].text == "head=kriging:relative_length=1.6"


def test_a_page_says_what_is_missing_and_takes_the_first_of_two_runs(tmp_path: Path) -> None:
    condition = Condition(set_name="nyu")
    for name, error in (("new", 0.04), ("old", 0.4)):
        write_cell(tmp_path / name, Cell(condition, OURS), [row("nyu", OURS, error) | condition.columns])
        write_about(tmp_path / name, {"commit": f"c-{name}", "methods": [OURS]})
    beyond.main([str(tmp_path / "new"), str(tmp_path / "old"), "--out", str(tmp_path / "page")])
    text = (tmp_path / "page" / "beyond.md").read_text()
    assert text.count(f"| **{NOT_THERE}** |") == 15
    assert all(f"\n## {letter}. " in text for letter in "abcdefg")
    assert "1 rows were left out" in text
    assert "**Rows of `default` come from different commits**: c-new, c-old." in text
    table = (tmp_path / "page" / "nyu.csv").read_text()
    assert "nyu,measured,default,clean,0.04," in table
    assert not list((tmp_path / "page").glob("*.png"))


def test_a_whole_page_is_written_with_its_figure(tmp_path: Path) -> None:
    rows = [*grid(OURS, 0.04), *sweep(OURS, lambda K: 1.0 / K, (2, 5))]
    for method in (*SIX, ORACLE, NARROW):
        rows += grid(method, 0.1)
    by_cell: dict[Cell, list[Row]] = {}
    for one in rows:
        names = ("source", "placement", "num_anchors", "seed", "family", "fraction")
        condition = Condition(set_name=one["set"], **{name: one[name] for name in names})
        by_cell.setdefault(Cell(condition, one["method"]), []).append(one)
    for cell, own in by_cell.items():
        write_cell(tmp_path / "run", cell, own)
    beyond.main([str(tmp_path / "run"), "--out", str(tmp_path / "page")])
    found = {path.name for path in (tmp_path / "page").iterdir()}
    assert {"beyond.md", "curve.png", "wins.csv", "regret.csv", "left-out.csv", "ablation.csv"} <= found
    text = (tmp_path / "page" / "beyond.md").read_text()
    assert "different commits" not in text
    assert "| b: lower AbsRel than each of six in at least 64 of 64 | **holds** |" in text
