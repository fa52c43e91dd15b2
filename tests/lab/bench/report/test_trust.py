from collections import Counter
from typing import Any

import numpy as np
import pytest

from mrac.lab.bench.report.results import Results
from mrac.lab.bench.report.trust import FAILING, SENSORS, Trust, trust_of
from tests.lab.bench.report.made import cell, columns


def trust(kept: float = 1.0, abs_rel: float = 0.1, coverage: float = 0.9) -> Trust:
    return Trust(3, 0, kept, abs_rel, coverage, Counter(ok=3))


def test_right_readings_kept_are_those_rejected_less_the_outliers_caught() -> None:
    clean: dict[str, Any] = {"num_anchors_given": 50, "num_wrong": 0, "num_rejected": 5, "gate_recall": None}
    corrupted: dict[str, Any] = {"num_anchors_given": 50, "num_wrong": 10, "num_rejected": 12, "gate_recall": 0.8}
    rows = [*cell("default", [0.1], **clean), *cell("mrac", [0.3, None], **corrupted)]
    results = Results(columns(rows))
    each = [trust_of(results.columns, np.array([i])) for i in (0, 1)]
    assert [one.kept for one in each] == pytest.approx([45 / 50, 1 - (12 - 8) / 40])
    both = trust_of(results.columns, np.arange(3))
    assert (both.num_images, both.num_failed, both.statuses) == (2, 1, Counter(ok=2))
    assert both.kept == pytest.approx((0.9 + 0.9) / 2)
    assert both.abs_rel == pytest.approx(0.2)
    assert both.coverage == pytest.approx(0.9)
    assert both.not_ok == 0.0


def test_of_no_row_nothing_is_known_and_the_bar_is_missed() -> None:
    nothing = trust_of(Results(columns(cell("default", [0.1], num_wrong=0))).columns, np.empty(0, np.intp))
    assert nothing.num_images == 0
    assert np.isnan([nothing.kept, nothing.abs_rel, nothing.coverage, nothing.not_ok]).all()
    assert SENSORS.missed(nothing, [0.1]) == ("kept", "AbsRel", "coverage")


@pytest.mark.parametrize(
    ("own", "others", "missed"),
    [
        (trust(kept=0.95, abs_rel=0.103), [0.1, 0.2], ()),
        (trust(kept=0.949), [0.1], ("kept",)),
        (trust(abs_rel=0.1031), [0.1, 0.2], ("AbsRel",)),
        (trust(coverage=0.84), [0.1], ("coverage",)),
        (trust(coverage=0.96), [0.1], ("coverage",)),
        (trust(), [], ("AbsRel",)),
        (trust(), [float("nan")], ("AbsRel",)),
        (trust(), [0.1, float("nan")], ("AbsRel",)),
    ],
)
def test_the_bar_of_sensors(own: Trust, others: list[float], missed: tuple[str, ...]) -> None:
    assert SENSORS.missed(own, others) == missed


def test_the_bar_of_failing_foundations_asks_for_less_and_for_no_coverage() -> None:
    assert FAILING.missed(trust(kept=0.93, coverage=0.5), [0.1]) == ()
    assert FAILING.missed(trust(kept=0.92, abs_rel=0.2), [0.1]) == ("kept", "AbsRel")
