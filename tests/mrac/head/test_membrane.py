import numpy as np
import pytest

from mrac.head._membrane import membrane, sum_over_cells


def test_has_the_least_energy() -> None:
    """Compared with the dense normal equations."""
    rng = np.random.default_rng(0)
    h, w = 5, 7
    values, weight = rng.normal(size=(h, w)), rng.random((h, w)) * (rng.random((h, w)) < 0.3)
    weight[2, 3] = 5.0
    down, right = rng.uniform(0.1, 1, (h - 1, w)), rng.uniform(0.1, 1, (h, w - 1))
    system = np.diag(weight.ravel())
    cells = np.arange(h * w).reshape(h, w)
    for stiffness, one, other in ((down, cells[:-1], cells[1:]), (right, cells[:, :-1], cells[:, 1:])):
        for s, i, j in zip(stiffness.ravel(), one.ravel(), other.ravel(), strict=True):
            system[[i, j], [i, j]] += s
            system[[i, j], [j, i]] -= s
    expected = np.linalg.solve(system, (weight * values).ravel()).reshape(h, w)
    solution, status = membrane(values, weight, down, right)
    np.testing.assert_allclose(solution, expected, atol=1e-5)
    assert status == "ok"


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1)])
def test_any_grid(shape: tuple[int, int]) -> None:
    h, w = shape
    weight = np.zeros(shape)
    weight[0, 0] = 5.0
    solution, _ = membrane(np.full(shape, 0.7), weight, np.ones((h - 1, w)), np.ones((h, w - 1)))
    np.testing.assert_allclose(solution, 0.7, rtol=1e-6)


def test_pixels_fall_into_cells() -> None:
    uv_px = np.array([[0.0, 0.0], [3.4, 0.0], [3.6, 0.0], [7.4, 3.4], [7.4, 3.4]])
    (count,) = sum_over_cells(uv_px, (4, 8), (2, 2), np.ones(5))
    np.testing.assert_array_equal(count, [[2, 1], [0, 2]])
