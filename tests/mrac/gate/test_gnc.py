from collections.abc import Callable

import numpy as np
import pytest

from mrac.gate.gnc import GncGate
from mrac.types import Samples


def test_the_verdict_is_the_threshold_s(make_samples: Callable[..., Samples]) -> None:
    x = np.linspace(0, 1, 30)
    z = 4 * x + 2
    z[5] *= 1.1
    z[20] *= 1.4
    result = GncGate(threshold=0.15)(make_samples(x, z))
    assert np.flatnonzero(~result.keep).tolist() == [20]
    assert result.reason[20] == "farther_than_fit"
    # Of the reading, not of the line: 1 − 1/1.4, in half thresholds.
    assert result.score[20] == pytest.approx((1 - 1 / 1.4) / 0.075, rel=0.05)
