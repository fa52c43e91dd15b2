"""Enlargement against a plane, which bilinear interpolation gives back exactly."""

import numpy as np
import pytest

from mrac.gp.grid import enlarged


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50])
def test_gives_a_plane_back(step: int) -> None:
    H, W = 23, 41
    rows, columns = -(-(H - 1) // step) + 1, -(-(W - 1) // step) + 1
    v, u = np.mgrid[0:rows, 0:columns] * step
    nodes = (0.5 + 0.01 * u - 0.02 * v).astype(np.float32)
    v, u = np.mgrid[0:H, 0:W]
    whole = 0.5 + 0.01 * u - 0.02 * v
    parts = np.concatenate([enlarged(nodes, step, 0, (10, W)), enlarged(nodes, step, 10, (H - 10, W))])
    np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_one_node_serves_an_image() -> None:
    np.testing.assert_array_equal(enlarged(np.full((1, 1), 2.0, np.float32), 9, 4, (3, 9)), np.full((3, 9), 2.0))
