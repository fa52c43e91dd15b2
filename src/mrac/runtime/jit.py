"""Compiles numeric kernels with numba: typed, cached on disk, without the interpreter lock."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import register_jitable

from mrac.runtime.forking import hold_at_fork

hold_at_fork(global_compiler_lock.acquire, global_compiler_lock.release)

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Compiles `function` with numba on the first call and caches it on disk for later processes.

    IEEE semantics are kept (no fastmath): the robust estimators depend on infinities and signed zeros.
    """
    return _compile(function, fastmath=False)


def fast_kernel(function: _Kernel) -> _Kernel:
    """As `kernel`, with float reassociation allowed so that dense loops vectorise; for finite values only.

    To use several cores, run such kernels from `mrac.runtime.parallel`, not in numba's own thread pool, whose default
    layer aborts the process when two Python threads enter it at once.
    """
    return _compile(function, fastmath=True)


def shared(function: _Kernel) -> _Kernel:
    """Leaves `function` as it is for Python, and lets compiled kernels call it too."""
    return register_jitable(function)


def _compile(function: _Kernel, fastmath: bool) -> _Kernel:
    try:
        return cast(_Kernel, numba.njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:  # neither the package's folder nor the user's cache can be written, as in a sealed container
        return cast(_Kernel, numba.njit(nogil=True, fastmath=fastmath)(function))
