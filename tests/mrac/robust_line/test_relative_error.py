import numpy as np
import pytest

from mrac.robust_line.relative_error import error_unit
from mrac.space import SPACES, Space, to_space


@pytest.mark.parametrize("space", SPACES)
def test_one_per_cent_of_depth_is_one_per_cent_in_any_space(space: Space) -> None:
    z_m = np.array([0.3, 2.0, 70.0])
    y, off = to_space(z_m, space), to_space(z_m * 1.01, space)
    np.testing.assert_allclose(np.abs(off - y) / error_unit(y, space), 0.01, rtol=0.02)
