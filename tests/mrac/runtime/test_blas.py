"""Products in parts are the products."""

from typing import Any

import numpy as np
import pytest

from mrac.runtime import blas
from mrac.runtime.blas import product


@pytest.mark.parametrize("shape", [(0, 3, 4), (1, 3, 4), (50, 288, 144), (7, 600, 700), (161, 36, 288)])
def test_a_product_in_parts_is_the_product(shape: tuple[int, int, int]) -> None:
    K, N, M = shape
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(K, N)), rng.normal(size=(N, M))
    np.testing.assert_allclose(product(left, right), left @ right, rtol=0.0, atol=1e-12)
    for row in left[:2]:
        np.testing.assert_allclose(product(row, right), row @ right, rtol=0.0, atol=1e-12)


def test_parts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_NOT_SHARED", 24)
    sizes: list[int] = []

    class Counted(np.ndarray[Any, Any]):
        def __matmul__(self, other: Any) -> Any:
            sizes.append(len(self))
            return np.asarray(self) @ other

    product(np.ones((7, 3)).view(Counted), np.ones((3, 4)))
    assert sizes == [2, 2, 2, 1]
