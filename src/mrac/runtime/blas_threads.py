"""One thread for numpy's and scipy's linear algebra while a frame is calibrated.

The matrices of a frame are small. OpenBLAS shares them out all the same, and its threads then spin for tens of
milliseconds in wait of more: on two cores that doubled the processor time of a call, and on a busy one its duration.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

from mrac.runtime.forking import call_in_child

_OURS: Final = ("numpy", "scipy")  # a network library's own is left as it is
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class _Calls:
    """How many calls are under way, and how many threads each library had before the first of them."""

    def __init__(self) -> None:
        self.lock, self.num, self.before = threading.Lock(), 0, list[tuple[Any, int]]()

    def enter(self) -> None:
        with self.lock:
            if not self.num:
                self.before = [(library, library.get_num_threads()) for library in _libraries()]
                for library, _ in self.before:
                    library.set_num_threads(1)
            self.num += 1

    def leave(self) -> None:
        with self.lock:
            self.num -= 1
            if not self.num:
                for library, before in self.before:
                    library.set_num_threads(before)


class _Forked(_Calls):
    """In a forked process OpenBLAS hangs when it is given a number of threads: it is left as the fork found it."""

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass


_calls = _Calls()


def _forked() -> None:
    global _calls  # noqa: PLW0603
    _calls = _Forked()


call_in_child(_forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra of this process has one thread inside the `with`, and as many as before once all have left it."""
    calls = _calls
    calls.enter()
    try:
        yield
    finally:
        calls.leave()


def with_one_blas_thread(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """A function whose linear algebra has one thread."""

    @wraps(function)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        with one_blas_thread():
            return function(*args, **kwargs)

    return run


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    return [library for library in found if any(name in library.filepath for name in _OURS)]
