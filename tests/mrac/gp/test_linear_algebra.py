"""Inverses against numpy's."""

import numpy as np
import pytest

from mrac.gp.linear_algebra import invert


@pytest.mark.parametrize(("num", "size"), [(1, 1), (3, 2), (18, 5), (4, 50), (3, 160)])
def test_equals_numpy(num: int, size: int) -> None:
    factor = np.random.default_rng(size).normal(size=(num, size, size + 3))
    matrices = factor @ factor.swapaxes(1, 2) / size + 0.01 * np.eye(size)
    expected = np.linalg.inv(matrices)
    matrices += np.triu(np.full((size, size), np.nan), 1)  # nobody looks there
    inverse = invert(matrices)
    assert inverse is matrices
    np.testing.assert_allclose(inverse, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(inverse, inverse.swapaxes(1, 2))


def test_ill_conditioned_as_two_readings_at_one_place() -> None:
    """Nearly equal rows, held apart by their noise alone, as at a sensor that reads one point twice."""
    matrix = np.full((1, 3, 3), 2.3) + 1e-6 * np.eye(3)
    product = invert(matrix.copy())[0] @ matrix[0]
    np.testing.assert_allclose(product, np.eye(3), atol=1e-7)
