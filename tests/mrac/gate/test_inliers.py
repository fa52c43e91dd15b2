"""What gates that select inliers first have in common."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from mrac.conventions import BoolArray, FloatArray
from mrac.gate._inliers import InlierGate
from mrac.types import Samples


@dataclass(frozen=True, kw_only=True)
class _AllButTheLast(InlierGate):
    def inlier_set(self, x: FloatArray, y: FloatArray, unit: FloatArray) -> BoolArray:
        return np.arange(x.size) < x.size - 1


@pytest.mark.parametrize(("off", "kept"), [(0.25, True), (-0.25, True), (0.2501, False)])
def test_an_error_of_the_threshold_itself_is_within_it(
    off: float, kept: bool, make_samples: Callable[..., Samples]
) -> None:
    x, y = np.arange(6.0), np.array([0.0, 0.0, 0.0, 0.0, 0.0, off])
    samples = make_samples(x, np.exp(y), "log_depth")
    result = _AllButTheLast(threshold=0.25).judge_line(samples, x, y)
    assert result.keep.tolist() == [True] * 5 + [kept]
    assert result.score[5] == pytest.approx(abs(off) / 0.125)
