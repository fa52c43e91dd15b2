"""During a call linear algebra has one thread, afterwards as many as before, whoever calls at the same time."""

import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.runtime.blas_threads import one_blas_thread


def num_threads() -> set[int]:
    """Of numpy's and scipy's libraries."""
    return {
        found["num_threads"]
        for found in threadpool_info()
        if found["internal_api"] == "openblas" and ("numpy" in found["filepath"] or "scipy" in found["filepath"])
    }


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    with threadpool_limits(2, "blas"):
        if num_threads() != {2}:
            pytest.skip("numpy without OpenBLAS, or one that takes no number of threads")
        yield


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with one_blas_thread():
        assert num_threads() == {1}
        with one_blas_thread():
            assert num_threads() == {1}
        assert num_threads() == {1}
    assert num_threads() == {2}


def test_an_error_restores_them_too() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert num_threads() == {2}


def test_the_last_of_several_calls_restores_them() -> None:
    inside, leave = threading.Event(), threading.Event()

    def call() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait()

    other = threading.Thread(target=call)
    other.start()
    inside.wait()
    with one_blas_thread():
        pass
    assert num_threads() == {1}  # the other is still inside
    leave.set()
    other.join()
    assert num_threads() == {2}


def test_a_calibration_has_one() -> None:
    seen: list[set[int]] = []

    def field(image: np.ndarray) -> RelativeDepth:
        seen.append(num_threads())
        return RelativeDepth(np.linspace(0.0, 1.0, image[..., 0].size).reshape(image.shape[:2]), "log_depth")

    anchors = Anchors(np.array([[1, 1], [5, 5], [9, 2]]), np.array([1.0, 2.0, 3.0]))
    Calibrator("cfa_ols", foundation=field)(np.zeros((8, 12, 3), np.uint8), anchors)
    assert seen == [{1}]
    assert num_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_the_library() -> None:
    with one_blas_thread():
        child = os.fork()
        if not child:
            with one_blas_thread():
                pass
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
