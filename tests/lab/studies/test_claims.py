"""The claims: the paper's own figures pass every test, other figures do not, and the page is rewritten in place."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Condition, Protocol
from mrac.lab.bench.report.paper import read_rows
from mrac.lab.bench.report.results import Results
from mrac.lab.bench.store import write_cell
from mrac.lab.studies import (
    claims,
    claims_abstract,
    claims_elsewhere,
    claims_own,
    claims_real,
    claims_robustness,
    claims_substrate,
)
from mrac.lab.studies.claim import SEEDS, SETS, Claim, NotRunError, Outcome, grid, strict_wins

Row = dict[str, Any]
ALL: tuple[Claim, ...] = (
    *claims_abstract.CLAIMS, *claims_robustness.CLAIMS, *claims_substrate.CLAIMS, *claims_real.QUESTIONS
)  # fmt: skip
OURS = {"nyuv2": "nyu", "kitti": "kitti15", "sunrgbd": "sunrgbd", "diode": "tum", "vi_depth": "sml_retrained"}
LEARNER = "sml_retrained"


def row(set_name: str, method: str, abs_rel: float | None, **more: Any) -> Row:
    given: Row = {
        "set": set_name, "method": method, "family": "none", "fraction": 0.0, "num_anchors": 50, "seed": 0,
        "placement": "random", "source": "truth", "image": "a", "abs_rel": abs_rel, "gate_precision": 0.8,
        "gate_recall": 0.7, "gate_f1": 0.74, "num_anchors_given": 50, "num_wrong": 12, "num_rejected": 10,
        "anchors_hash": "x", "time_ms": 10.0, "failure": None,
    }  # fmt: skip
    return given | more


def results(rows: Iterable[Row]) -> Results:
    rows = list(rows)
    return Results({name: [one[name] for one in rows] for name in rows[0]})


def printed(*files: str, seeds: Iterable[int] = (0,)) -> list[Row]:
    """The paper's own numbers as if they were a run; what two files state is taken from the first."""
    found: dict[tuple[Any, ...], Row] = {}
    for name in files:
        for one in (one for one in read_rows(name) if one["set"]):  # a mean over sets is no cell
            set_name, method = OURS[one["set"]], OURS.get(one["method"], one["method"])
            condition: Row = {name: one[name] for name in ("family", "placement")}
            condition |= {"fraction": float(one["fraction"]), "num_anchors": int(one["num_anchors"])}
            made = found.setdefault(
                (name, set_name, method, *condition.values()), row(set_name, method, None, **condition)
            )
            made[one["metric"]] = float(one["value"])
    once: dict[tuple[Any, ...], Row] = {}
    for key, made in found.items():
        once.setdefault(key[1:], made)
    return [made | {"seed": seed} for made in once.values() for seed in seeds]


def claim(test: Any) -> Claim:
    return next(one for one in ALL if one.test is test)


HEADLINE = ("headline", "clean", "limits")


@pytest.mark.parametrize(
    "test",
    [
        claims_abstract.collapses,
        claims_abstract.robust_to_missing,
        claims_abstract.blind_spot,
        claims_abstract.three_times,
        claims_robustness.best_dropout,
        claims_robustness.augmentation,
        claims_robustness.ransac_patch,
        claims_robustness.best_near,
        claims_robustness.worst_near,
        claims_robustness.behind_vanilla,
        claims_robustness.limits,
        claims_substrate.raw_loses,
        claims_substrate.residual_wins,
        claims_substrate.clean_cost,
        claims_substrate.learner_clean,
    ],
)
def test_the_papers_headline_passes_its_own_test(test: Any) -> None:
    assert claim(test).test(results(printed(*HEADLINE, seeds=SEEDS))).verdict == "holds"


@pytest.mark.parametrize(
    ("test", "file"),
    [
        (claims_robustness.kappa_flat, "kappa"),
        (claims_robustness.gate_quality, "kappa"),
        (claims_robustness.gate_over_kappa, "kappa"),
        (claims_robustness.own_budget, "budget"),
        (claims_substrate.one_anchor, "budget"),
        (claims_substrate.stratified, "placement"),
        (claims_substrate.farthest, "placement"),
        (claims_substrate.active, "placement"),
    ],
)
def test_the_papers_studies_pass_their_own_tests(test: Any, file: str) -> None:
    assert claim(test).test(results(printed(file))).verdict == "holds"


def test_the_papers_budgets_pass_their_own_tests() -> None:
    """The paper prints no K = 25, and the curve of the head alone."""
    rows = [*printed("budget"), row("nyu", "vanilla", 0.11, num_anchors=25)]
    assert claims_substrate.u_shape(results(rows)).verdict == "holds"
    served = results([one | {"method": "mrac"} for one in rows if one["set"] == "nyu" and one["method"] == "vanilla"])
    assert claims_abstract.any_budget(served).verdict == "holds"


def test_the_slip_about_lost_anchors_is_caught() -> None:
    """Precision 0.60 and recall 0.64 of 12 wrong ones are 12.8 rejected and 5.1 of 38 right ones lost, not 40 %."""
    hit = {"family": "near", "fraction": 0.25, "gate_precision": 0.6, "gate_recall": 0.64, "num_rejected": 12.8}
    outcome = claims_robustness.lost_anchors(results([row("kitti15", "mrac_b_prime", 0.15, **hit)]))
    assert outcome.here.startswith("13 %")
    assert outcome.verdict == "does not hold"


def whole(error: Mapping[str, float], images: Iterable[str] = ("a", "b")) -> list[Row]:
    cells = {(c.set, c.stored.family, c.fraction) for c in grid()}
    return [
        row(s, method, e, family=f, fraction=p, image=image)
        for s, f, p in sorted(cells)
        for method, e in error.items()
        for image in images
    ]


ERRORS = {"vanilla": 0.3, "b_prime": 0.29, "mrac": 0.2, "mrac_b_prime": 0.1, LEARNER: 0.15}


def test_the_grid_is_counted_as_the_paper_counts_it() -> None:
    full = results(whole(ERRORS))
    outcome = claims_abstract.whole_grid(full)
    assert outcome.verdict == "holds"
    assert outcome.here.startswith("320 of 320 cells (260 different ones")
    assert "64/64 (100 %; uniform 16/16" in claims_abstract.same_backbone(full).here
    assert claims_abstract.twelve(full).here == "12 of 12"
    assert claims_abstract.sixteen(full).here == "16 of 16"
    assert "learner over `b_prime` 64/64" in claims_robustness.scorecard(full).here
    assert claims_robustness.curves(full).verdict == "holds"


def test_a_tie_is_no_win_and_neither_is_a_failure() -> None:
    tied = results(whole(ERRORS | {"mrac": 0.3}))
    assert not any(strict_wins(tied, "mrac", "vanilla", grid()))
    failed = [one | {"abs_rel": None, "failure": "E: no"} if one["method"] == "mrac" else one for one in whole(ERRORS)]
    assert not any(strict_wins(results(failed), "mrac", "vanilla", grid()))
    assert "104 images failed" in claims_abstract.whole_grid(results(failed)).here


def test_anchors_that_differ_between_methods_are_seen() -> None:
    rows = whole(ERRORS)
    rows[-1] = rows[-1] | {"anchors_hash": "y"}
    outcome = claims_abstract.whole_grid(results(rows))
    assert "NOT the same" in outcome.here
    assert outcome.verdict == "in part (1 of 2)"


def test_a_missing_cell_is_not_run_and_no_seed_stands_for_three() -> None:
    with pytest.raises(NotRunError):
        claims_abstract.three_times(results(printed(*HEADLINE)))
    only = claims.tested(claim(claims_abstract.three_times), results([row("nyu", "vanilla", 0.1)]))
    assert only == ("–", "**not run**")


def test_a_question_is_answered() -> None:
    rows = [row("kitti15", m, 0.1, source="lidar") for m in ("mrac", "vanilla")]
    question = Claim(place="", says="So?", holds_when="", protocol="", test=lambda _: Outcome("x", (True,)))
    assert claims.tested(question, results(rows)) == ("x", "**yes**")
    assert claims.tested(replace(question, says="So."), results(rows)) == ("x", "**holds**")
    assert claims.tested(replace(question, test=lambda _: Outcome("x", (False,))), results(rows)) == ("x", "**no**")


def cells_of(protocols: str) -> list[Row]:
    """A row for every cell of some protocols."""
    cells: dict[Cell, None] = {}
    for name in protocols.split(", "):
        cells.update(dict.fromkeys(Protocol.read(name).cells()))
    return [row("", cell.method, 0.1) | cell.condition.columns for cell in cells]


@pytest.mark.parametrize("one", [c for c in ALL if ":" not in c.protocol], ids=lambda c: c.test.__qualname__)
def test_the_protocols_that_a_claim_names_have_its_cells(one: Claim) -> None:
    assert isinstance(one.test(results(cells_of(one.protocol))), Outcome)


def test_a_foundation_that_is_not_here_is_named_and_not_counted() -> None:
    rows = []
    for method, error in (("default", 0.1), ("default;foundation=none", 0.3), ("default;foundation=moge-2", None)):
        for gate, more in (("", 0.0), (";gate=none", 0.05)):
            value = None if error is None else error + more
            rows += [row(s, method + gate, value, family="near", fraction=0.25) for s in SETS]
    outcome = claims_real.any_foundation(results(rows))
    assert outcome.here.endswith(
        "`default` embedded 0.100 / 0.150, none 0.300 / 0.350; not here: moge-2; no network but ours was here"
    )
    assert outcome.parts == (True, True, False)
    gated = [row(s, "cfa_ols;foundation=none;gate=theil_sen_mad", 0.4, family="near", fraction=0.25) for s in SETS]
    trusting = [row(s, "cfa_ols;foundation=none", 0.2, family="near", fraction=0.25) for s in SETS]
    outcome = claims_real.any_foundation(results([*rows, *gated, *trusting]))
    assert "gate / none: `cfa_ols` none 0.400 / 0.200; `default`" in outcome.here
    assert outcome.parts == (False, True, True, False)
    there = [one | {"abs_rel": 0.1} if "moge-2" in one["method"] else one for one in rows]
    assert claims_real.any_foundation(results(there)).parts[-1]


def test_our_own_method_is_asked_what_was_promised_of_it() -> None:
    rows = whole(ERRORS | {"ransac_residual": 0.2, "default": 0.05})
    assert claims_own.every_condition(results(rows)).verdict == "holds"
    outcome = claims_own.corrupted_mean(results(rows))
    assert outcome.here == "0.050; best of the others `mrac_b_prime` 0.100: 0.50 ×"
    assert outcome.verdict == "holds"
    assert claims_own.on_nyu(results(rows)).verdict == "holds"
    worse = results([one | {"abs_rel": 0.07} if one["method"] == "default" else one for one in rows])
    assert claims_own.corrupted_mean(worse).verdict == "does not hold"
    assert claims_own.on_nyu(worse).parts == (False, False, True, False, False, True, False)


def test_our_own_method_is_compared_on_real_readings_by_error_and_f1() -> None:
    rows = []
    for seed in SEEDS:
        for source, set_name in claims_real.SOURCES.items():
            for family, p in (("natural", 0.0), ("enriched", 0.1), ("enriched", 0.25), ("enriched", 0.4)):
                more: Row = {"family": family, "fraction": p, "source": source, "seed": seed}
                rows += [row(set_name, "default", 0.1, **more), row(set_name, "mrac", 0.2, **more)]
    outcome = claims_own.real_readings(results(rows))
    assert outcome.parts == (True, True, False, True, False, True, False) * 3  # the same F1 is no better


def test_real_readings_are_compared_level_by_level() -> None:
    rows = []
    for seed in SEEDS:
        for family, p in (("natural", 0.0), ("enriched", 0.1), ("enriched", 0.25), ("enriched", 0.4)):
            more: Row = {"family": family, "fraction": p, "source": "lidar", "seed": seed}
            rows += [row("kitti15", "vanilla", 0.1 + p, **more), row("kitti15", "mrac", 0.11, **more)]
    outcome = claims_real.compared("lidar", "mrac", "vanilla")(results(rows))
    assert outcome.parts == (False, True, True, True)
    assert "natural 0.110 / 0.100, 10 % 0.110 / 0.200" in outcome.here


def test_what_no_run_settles_is_read_from_files(tmp_path: Path) -> None:
    by_place = {one.says.split(":")[0]: one.test for one in claims_elsewhere.claims(tmp_path)}
    nothing = results([row("nyu", "vanilla", 0.1)])
    for test in by_place.values():
        with pytest.raises(NotRunError):
            test(nothing)
    for date, took in (("2026-01-02", "4.83 µs"), ("2026-01-01", "1.2 ms")):
        (tmp_path / f"speed--x--{date}").mkdir()
        (tmp_path / f"speed--x--{date}" / "table.txt").write_text(
            f"machine: toy\n│ gate, K = 50    │ mrac     │ {took} │\n"
        )
    assert claims_elsewhere.gate_speed(tmp_path) == Outcome("4.8 µs (toy)", (True,))
    # The paper's own table passes; its digits are those of `losses.csv`.
    rows = [
        {"row": one["method"], "nyu_head": float(one["value"])} for one in read_rows("losses") if one["set"] == "nyuv2"
    ]
    (tmp_path / "heads--x--2026-01-01").mkdir()
    (tmp_path / "heads--x--2026-01-01" / "ablation.json").write_text(json.dumps({"rows": rows}))
    # Of Fig. S1 the paper prints five figures; the bins between them are ours.
    bins = {
        "SML retrained": (0.55, 0.5, 0.47, 0.44, 0.42, 0.42),
        "vanilla": (0.26, 0.2, 0.18, 0.16, 0.14, 0.14),
        "MRAC/B′": (0.12,) * 6,
    }
    folder = tmp_path / "benchmark--x--2026-01-01" / "report" / "tables"
    folder.mkdir(parents=True)
    lines = [f"{label},{value}" for label, values in bins.items() for value in values]
    (folder / "propagation.csv").write_text("\n".join(["row,value", *lines]), encoding="utf-8")
    assert [test(nothing).verdict for test in by_place.values()] == ["holds"] * 6


def test_the_page_is_rewritten_between_its_markers_alone(tmp_path: Path) -> None:
    page, run = tmp_path / "page.md", tmp_path / "run"
    page.write_text(f"before\n{claims.BEGIN}\nstale\n{claims.END}\nafter\n")
    condition = Condition(set_name="nyu", num_anchors=1)
    cell, failed = Cell(condition, "vanilla"), Cell(condition, "mrac")
    write_cell(run, cell, [row("nyu", "vanilla", 1.5) | condition.columns])
    write_cell(run, failed, [row("nyu", "mrac", None, failure="E: no") | condition.columns])
    claims.main([str(run), "--page", str(page), "--results", str(tmp_path)])
    text = page.read_text()
    assert text.startswith(f"before\n{claims.BEGIN}\n")
    assert text.endswith(f"{claims.END}\nafter\n")
    assert "stale" not in text
    assert "- 1 rows of `mrac`: E: no\n" in text
    assert "- The abstract, sentence by sentence: holds 2, not run 10.\n" in text
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| paper, protocol")]
    assert len(lines) == len(ALL) + len(claims_own.QUESTIONS) + 6
    assert all(line.count(" | ") == 4 for line in lines)
    assert text.count("**not run**") == len(lines) - 2  # what is read from the code needs no run
    claims.main([str(run), "--page", str(page), "--results", str(tmp_path)])
    assert page.read_text() == text


@pytest.mark.parametrize("page", ["", claims.BEGIN, f"{claims.END}\n{claims.BEGIN}", claims.BEGIN * 2 + claims.END])
def test_a_page_without_its_markers_is_refused(page: str) -> None:
    with pytest.raises(ContractError, match="the page needs one line"):
        claims.rewritten(page, "new")


def test_our_own_page_has_its_markers() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert "new" in claims.rewritten(page, "new")
