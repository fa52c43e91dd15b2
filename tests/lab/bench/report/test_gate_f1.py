"""The two readings of a gate's F1."""

import math

import pytest

from mrac.lab.bench.report.gate_f1 import IMAGE, POOLED, f1_image, f1_pooled, pooled
from mrac.lab.bench.report.results import CellKey, Results
from tests.lab.bench.report.made import cell, columns, context

NEAR = CellKey(set="nyu", method="mrac", family="near", fraction=0.25)


def test_an_image_counts_as_one_or_by_its_anchors() -> None:
    """One image with 1 of 1 found and nothing else rejected, one with 2 of 10 found among 10 rejected."""
    few, many = cell("mrac", [0.1, 0.1], family="near", fraction=0.25)
    few |= {"num_wrong": 1, "num_rejected": 1, "gate_recall": 1.0, "gate_f1": 1.0}
    many |= {"num_wrong": 10, "num_rejected": 10, "gate_recall": 0.2, "gate_f1": 0.2}
    results = Results(columns([few, many]))
    assert f1_image(results, NEAR) == pytest.approx(0.6)
    assert pooled(results, NEAR) == pytest.approx((3 / 11, 3 / 11, 6 / 22))
    shown = context([few, many])
    assert [shown.entry(NEAR, metric).value for metric in (IMAGE, POOLED)] == pytest.approx([0.6, 6 / 22])


def test_where_nothing_is_wrong_or_rejected_there_is_none() -> None:
    (row,) = cell("mrac", [0.1], family="near", fraction=0.25)
    results = Results(columns([row | {"num_wrong": 0, "num_rejected": 0}]))
    assert math.isnan(f1_image(results, NEAR))
    assert math.isnan(f1_pooled(results, NEAR))


def test_an_image_without_verdicts_does_not_count_as_one_that_missed_all() -> None:
    good, failed = cell("mrac", [0.1, None], family="near", fraction=0.25)
    good |= {"num_wrong": 2, "num_rejected": 2, "gate_recall": 1.0, "gate_f1": 1.0}
    assert f1_pooled(Results(columns([good, failed | {"num_wrong": 9}])), NEAR) == 1.0
