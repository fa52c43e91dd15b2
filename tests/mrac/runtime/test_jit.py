from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from mrac.runtime import jit
from mrac.runtime.jit import fast_kernel, kernel


@pytest.mark.parametrize("compiler", [kernel, fast_kernel])
def test_works_where_nothing_can_be_cached(
    compiler: Callable[[Callable[[int], int]], Callable[[int], int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sealed(cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(jit, "numba", SimpleNamespace(njit=sealed))
    assert compiler(lambda n: n + 1)(2) == 3
