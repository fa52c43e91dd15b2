"""The CUDA kernels' own source, compiled for the CPU with a thread of the CPU for each of the GPU's, against numpy."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mrac.gpu.kernels import MAX_SIZE, SOURCE, invert_bytes
from mrac.gpu.linear_algebra import Blocks, leave_one_out

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

SHIM = r"""
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
struct Dim { int x; };
static thread_local Dim threadIdx, blockIdx;
static Dim blockDim{32};
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static double pool[40000];
static std::barrier<> together(32);
#define __global__
#define SHARED(type, name) type* name = pool
#define __syncthreads() together.arrive_and_wait()
#define __syncwarp() together.arrive_and_wait()
template <class Kernel> void launch(int blocks, Kernel kernel) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 32; ++t)
        threads.emplace_back([=] {
            threadIdx.x = t;
            for (int b = 0; b < blocks; ++b) { blockIdx.x = b; kernel(); together.arrive_and_wait(); }
        });
    for (auto& thread : threads) thread.join();
}
"""
HARNESS = r"""
extern "C" void run_invert(const double* in, double* out, int N, int K, int root) {
    launch(N, [=] { invert(in, out, K, root); });
}
extern "C" void run_leave_out(
    const double* inverse, const double* solved, const long long* members, const unsigned char* there,
    const unsigned char* wanted, double* residual, double* var, int Q, int S, int D, int M, int K) {
    launch(Q * S * D, [=] { leave_out(inverse, solved, members, there, wanted, residual, var, S, D, M, K); });
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.cpp").write_text(SHIM + SOURCE + HARNESS, encoding="utf-8")
    assert COMPILER is not None
    command = [COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "kernels.cpp", "-o", "kernels.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "kernels.so"))


def pointer(values: NDArray[np.generic]) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


def covariances(shape: tuple[int, ...], size: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(size)
    root = rng.normal(size=(*shape, size, size))
    return np.asarray(root @ root.swapaxes(-1, -2) + 0.1 * np.eye(size))


@pytest.mark.parametrize("size", [1, 5, 32, 45])
def test_invert(library: ctypes.CDLL, size: int) -> None:
    total = covariances((3,), size)
    out = np.zeros_like(total)
    library.run_invert(pointer(total), pointer(out), 3, size, 0)
    np.testing.assert_allclose(out, np.linalg.inv(total), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("size", [1, 5, 45])
def test_inverse_root(library: ctypes.CDLL, size: int) -> None:
    total = covariances((3,), size)
    out = np.zeros_like(total)
    library.run_invert(pointer(total), pointer(out), 3, size, 1)
    np.testing.assert_allclose(out, np.linalg.inv(np.linalg.cholesky(total)), rtol=1e-8, atol=1e-8)


def test_leave_out(library: ctypes.CDLL) -> None:
    Q, S, D, M, K = 2, 2, 3, 4, 9
    rng = np.random.default_rng(0)
    inverse = np.linalg.inv(covariances((Q, S), K))
    error = rng.normal(size=(Q, S, K))
    solved = np.ascontiguousarray((inverse @ error[..., None])[..., 0])
    which = np.stack([rng.permutation(K)[:D] for _ in range(Q)])
    others = np.stack([[rng.permutation(np.delete(np.arange(K), i))[: M - 1] for i in row] for row in which])
    members = np.concatenate([others, which[..., None]], axis=2)
    there = np.ones((Q, D, M), np.bool_)
    there[0, 1, 0] = False
    wanted = np.array([[True, True, True], [True, False, True]])
    residual, var = np.zeros((2, Q, S, D))
    arrays = inverse, solved, members, there, wanted, residual, var
    library.run_leave_out(*map(pointer, arrays), Q, S, D, M, K)
    blocks = Blocks.of(torch.from_numpy(which), torch.from_numpy(members), torch.from_numpy(there), K)
    expected = blocks.leave_out(torch.from_numpy(inverse), torch.from_numpy(solved))
    for found, right, unwanted in ((residual, expected[0], 0.0), (var, expected[1], 1.0)):
        np.testing.assert_allclose(found, np.where(wanted[:, None], right.numpy(), unwanted), rtol=1e-9)


def test_one_member_left_out_is_leave_one_out() -> None:
    inverse = torch.from_numpy(np.linalg.inv(covariances((1, 2), 6)))
    residual, var, solved = leave_one_out(inverse, torch.randn(1, 2, 6, dtype=torch.float64))
    own = torch.arange(6)[None]
    blocks = Blocks.of(own, own[..., None], torch.ones(1, 6, 1, dtype=torch.bool), 6)
    for found, expected in zip(blocks.leave_out(inverse, solved), (residual, var), strict=True):
        torch.testing.assert_close(found, expected)


def test_the_largest_matrix_fits_in_shared_memory() -> None:
    assert invert_bytes(MAX_SIZE) <= 227 * 1024
