"""Real sensors, nothing injected."""

import pytest

from mrac.lab.bench.report.gate_f1 import pooled
from mrac.lab.bench.report.results import CellKey
from mrac.lab.studies.beyond.grid import (
    PAPERS_GATE,
)
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.beyond.real_sensors import real
from tests.lab.studies.beyond.made import Row, readings, results, row


def test_real_readings_are_compared_by_error_and_where_some_are_wrong_by_f1() -> None:
    rows = [*readings(OURS, 0.1, 0.7), *readings(PAPERS_GATE, 0.2, 0.7), *readings("mrac", 0.0, 0.9)]
    section = real(results(rows))
    outcomes = [check.outcome for check in section.checks]
    assert [one.parts if one else None for one in outcomes] == [
        (True,) * 3,
        (False,),
        (False,),
    ]  # as high is not higher
    assert section.notes == []


def test_the_papers_own_head_stands_in_and_it_is_said() -> None:
    section = real(results([*readings(OURS, 0.1, 0.7), *readings("mrac", 0.05, 0.6)]))
    outcomes = [check.outcome for check in section.checks]
    assert [one.parts if one else None for one in outcomes] == [
        (False,) * 3,
        (True,),
        (False,),
    ]  # the same anchors were rejected
    assert "`mrac`, the paper's gate before the paper's own head, stands for it" in section.notes[0]


def test_pooled_verdicts_count_every_anchor_once() -> None:
    more: Row = {"source": "lidar", "family": "natural"}
    rows = [
        row("kitti15", "m", 0.1, **more, image="a", num_wrong=9, gate_recall=1.0, num_rejected=9),
        row("kitti15", "m", 0.1, **more, image="b", num_wrong=1, gate_recall=0.0, num_rejected=6),
    ]
    cell = CellKey(set="kitti15", method="m", family="natural", source="lidar")
    assert pooled(results(rows), cell, (0,)) == pytest.approx((9 / 15, 9 / 10, 18 / 25))
