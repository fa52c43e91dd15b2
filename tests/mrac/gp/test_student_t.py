"""Against scipy's."""

import numpy as np
import pytest
from scipy import stats

from mrac.gp.student_t import log_density


@pytest.mark.parametrize("tail", [3.0, 5.0, 30.0])
def test_is_scipys_with_the_variance_asked_for(tail: float) -> None:
    error, var = np.linspace(-3.0, 3.0, 31), np.full(31, 0.49)
    scale = float(np.sqrt(0.49 * (tail - 2.0) / tail))
    np.testing.assert_allclose(log_density(error, var, tail), stats.t.logpdf(error, tail, scale=scale), rtol=1e-12)
    assert stats.t.var(tail, scale=scale) == pytest.approx(0.49)
