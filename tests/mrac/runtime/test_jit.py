import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
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


@pytest.mark.lab
def test_the_process_that_compiles_and_those_that_load_give_the_same_bits(tmp_path: Path) -> None:
    code = (
        "import hashlib, numpy as np; from mrac import Anchors, Calibrator, examples\n"
        "image, rng = np.ascontiguousarray(examples.load('room').image[::3, ::3]), np.random.default_rng(0)\n"
        "uv = rng.random((50, 2)) * (image.shape[1] - 1, image.shape[0] - 1)\n"
        "out = Calibrator(foundation='none')(image, Anchors(uv, 1.0 + 3.0 * rng.random(50)))\n"
        "print(hashlib.sha256(out.depth_m.tobytes() + out.sigma_m.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))
    assert first == second
