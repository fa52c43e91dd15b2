"""The measures of calibration against cases whose answer is known, and the whole of it on a pack of a few images."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.lab.studies.calibration.measures import (
    REMOVED,
    ause,
    ideal_sparsification,
    reliability,
    sparsification,
    wilson,
)
from mrac.lab.studies.calibration.page import verdicts
from mrac.lab.studies.calibration.run import chosen, conditions, distance, main
from tests.lab.packs import write_pack


class TestReliability:
    def test_probabilities_that_come_true_as_often_as_stated_are_calibrated(self) -> None:
        rng = np.random.default_rng(0)
        stated = rng.uniform(size=200_000)
        found = reliability(stated, rng.uniform(size=stated.size) < stated)
        assert found.error < 0.01
        assert found.brier == pytest.approx(1.0 / 6.0, abs=0.005)  # of p (1 − p), p uniform
        assert found.brier_constant == pytest.approx(0.25, abs=0.005)

    def test_overconfidence_costs_what_it_is_off(self) -> None:
        stated = np.repeat([0.0, 1.0], 10)
        true = np.array([*[True] * 2, *[False] * 8, *[True] * 8, *[False] * 2])
        found = reliability(stated, true)
        assert found.error == pytest.approx(0.2)
        assert found.brier == pytest.approx(0.2)
        assert found.count[[0, -1]].tolist() == [10, 10]
        assert np.isnan(found.observed[1:-1]).all()

    def test_the_interval_of_a_share_is_scipys(self) -> None:
        stats = pytest.importorskip("scipy.stats")
        low, high = wilson(np.array([0.0, 0.3]), np.array([5.0, 50.0]))
        for i, (hits, count) in enumerate(((0, 5), (15, 50))):
            theirs = stats.binomtest(hits, count).proportion_ci(0.95, method="wilson")
            assert (low[i], high[i]) == pytest.approx((theirs.low, theirs.high), abs=1e-4)


class TestSparsification:
    def test_doubt_that_knows_the_error_is_ideal(self) -> None:
        error = np.random.default_rng(0).exponential(size=5000)
        ideal = ideal_sparsification(error)
        assert ause(sparsification(error, error), ideal) == pytest.approx(0.0, abs=1e-12)
        assert ideal[0] == 1.0
        assert np.all(np.diff(ideal) < 0.0)
        step = np.flatnonzero(np.isclose(REMOVED, 0.5))[0]
        assert ideal[step] == pytest.approx(np.sort(error)[:2500].mean() / error.mean())

    def test_doubt_that_knows_nothing_or_worse_is_told_apart(self) -> None:
        rng = np.random.default_rng(0)
        error = rng.exponential(size=20_000)
        ideal = ideal_sparsification(error)
        some, none, against = (ause(sparsification(error, d), ideal)
                               for d in (error + rng.normal(size=error.size), np.ones(error.size), -error))  # fmt: skip
        assert 0.0 < some < none < against

    def test_a_perfect_prediction_leaves_nothing_to_sort(self) -> None:
        assert sparsification(np.zeros(9), np.arange(9.0)).tolist() == [1.0] * len(REMOVED)


def test_images_are_spread_evenly() -> None:
    assert chosen(435, 4) == [0, 145, 289, 434]
    assert chosen(3, 60) == chosen(3, 0) == [0, 1, 2]
    assert len(set(chosen(61, 60))) == 60


def test_distances_are_to_the_nearest_anchor() -> None:
    found = distance(np.array([0, 7, 14]), 5, np.array([[0.0, 0.0], [4.0, 2.0]]))
    assert found == pytest.approx([0.0, math.hypot(2, 1), 0.0])
    assert distance(np.array([1, 2]), 5, np.empty((0, 2))).tolist() == [0.0, 0.0]


def test_every_condition_is_the_benchmarks_own() -> None:
    names = [(c.family, c.fraction, c.num_anchors, c.seed) for c in conditions("nyu")]
    assert names[0] == ("none", 0.0, 50, 0)
    assert [name[:2] for name in names[1:]] == [(f, 0.25) for f in ("uniform", "near", "dropout", "mixed_pixel")]


def test_a_cell_outside_the_band_is_named() -> None:
    areas = {"less": [-0.1, -0.2, 0.0]}
    result: dict[str, Any] = {
        "coverage": {"nyu": {"none": [0.5, 0.68, 0.96], "near": [0.5, 0.68, 0.9]}},
        "reliability": {"all": {"expected_calibration_error": 0.06, "brier": 0.1, "brier_constant": 0.2}},
        "sparsification": {"nyu": {"none": areas, "near": {"less": [0.01, 0.0, 0.02]}}},
    }
    found = verdicts(result)
    assert [one["holds"] for one in found] == [False, False, False]
    assert found[0]["here"] == "1 of 2 cells; not in NYUv2 clean 96.0 %"
    assert found[2]["here"] == "1 of 2 cells; not in NYUv2 near"
    result["coverage"]["nyu"]["none"] = [0.5, 0.68, 0.95]
    assert verdicts(result)[0]["holds"]


def test_a_small_pack_is_measured_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pack, out = write_pack(tmp_path / "pack", room=2, hall=3), tmp_path / "out"
    words = ["--data", str(pack), "--out", str(out), "--workers", "0", "--limit", "2"]
    main([*words, "--method", "default;foundation=none"])
    found = json.loads((out / "calibration.json").read_text())
    assert found["images"] == {"hall": 2, "room": 2}
    assert found["failures"] == []
    assert found["reliability"]["all"]["anchors"] == 2 * 2 * 5 * 50
    clean, mixed = (found["reliability_over_10_percent"][name] for name in ("none", "mixed_pixel"))
    assert sum(b["count"] * (b["observed"] or 0.0) for b in clean["bins"]) == 0.0
    assert sum(b["count"] * (b["observed"] or 0.0) for b in mixed["bins"]) <= 0.25 * 200
    for by_family in found["coverage"].values():
        for fifty, sixty_eight, ninety in by_family.values():
            assert 0.0 <= fifty <= sixty_eight <= ninety <= 1.0
    page = (out / "calibration.md").read_text()
    assert page.count("\n| room") == page.count("\n| hall") == 8  # coverage, verdicts, six of sparsification
    assert (out / "reliability.png").stat().st_size > 1000
    assert (out / "sparsification.png").stat().st_size > 1000
    assert "sparsification by the stated deviation" in capfd.readouterr().out


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", room=1)
    words = ["--data", str(pack), "--out", str(tmp_path / "out"), "--workers", "0"]
    with pytest.raises(ContractError, match="no set 'attic'; known: room"):
        main([*words, "--sets", "attic"])
    with pytest.raises(ContractError, match="an oracle states no probabilities"):
        main([*words, "--method", "default;gate=oracle"])
