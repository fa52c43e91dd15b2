"""The one way this package compiles a numeric kernel: typed, cached on disk, without the interpreter lock."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Compiles `function` with numba on first call and caches it, so that the second process starts warm.

    IEEE semantics are kept (no fastmath): the robust estimators must see infinities and signed zeros as they are.
    """
    return _compile(function, fastmath=False)


def fast_kernel(function: _Kernel) -> _Kernel:
    """As `kernel`, with float reassociation allowed so that dense loops vectorise; for finite values only.

    Cores are used by running such kernels from `mrac.runtime.parallel`, not by numba's own thread pool, whose default
    layer aborts the process when two Python threads enter it at once.
    """
    return _compile(function, fastmath=True)


def _compile(function: _Kernel, fastmath: bool) -> _Kernel:
    try:
        return cast(_Kernel, numba.njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:  # neither the package's folder nor the user's cache can be written, as in a sealed container
        return cast(_Kernel, numba.njit(nogil=True, fastmath=fastmath)(function))
