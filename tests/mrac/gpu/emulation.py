"""CUDA kernels on a CPU: the same source, compiled by g++, with a coroutine for each thread of a block.

Threads run one after another, each until it waits for the others: at `__syncthreads`, `__syncwarp` or in a shuffle.
What a kernel reads before it waits, though another thread writes it only after that, is found wrong here as on a GPU;
races that need two threads at once are not.
"""

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from torch import Tensor

from mrac.gpu.kernels import source
from mrac.gpu.kernels.source import Launch

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

SHIM = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>
using std::min; using std::max; using std::sqrt; using std::exp;
using std::isnan; using std::isinf; using std::isfinite;
struct Dim { int x, y = 1, z = 1; };
static Dim threadIdx{0}, blockIdx{0}, blockDim{32}, gridDim{1};
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
enum Waits { RUNS, FOR_BLOCK, FOR_WARP, ENDED };
struct Fibre { ucontext_t context; std::vector<char> stack; Waits waits; double slot; };
static std::vector<Fibre> fibres;
static ucontext_t scheduler;
static std::function<void()> body;
static std::vector<double> pool;
static void wait(Waits what) {
    const int own = threadIdx.x;
    fibres[own].waits = what;
    swapcontext(&fibres[own].context, &scheduler);
    threadIdx.x = own;
}
static void entered() { const int own = threadIdx.x; body(); fibres[own].waits = ENDED; }
template <class T> T __shfl_sync(unsigned, T value, int from) {
    const int own = threadIdx.x;
    std::memcpy(&fibres[own].slot, &value, sizeof(T));
    wait(FOR_WARP);
    T out;
    std::memcpy(&out, &fibres[own / 32 * 32 + (from & 31)].slot, sizeof(T));
    wait(FOR_WARP);
    return out;
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int apart) {
    return __shfl_sync(mask, value, (threadIdx.x & 31) ^ apart);
}
static void launch(int grid, int threads, int shared_bytes, std::function<void()> kernel) {
    body = kernel;
    blockDim.x = threads; gridDim.x = grid;
    fibres.resize(threads);
    for (auto& fibre : fibres) fibre.stack.resize(1 << 16);
    for (int b = 0; b < grid; ++b) {
        pool.assign(shared_bytes / 8 + 1, NAN);  // what was never written is not a number
        for (int t = 0; t < threads; ++t) {
            auto& fibre = fibres[t];
            getcontext(&fibre.context);
            fibre.context.uc_stack.ss_sp = fibre.stack.data();
            fibre.context.uc_stack.ss_size = fibre.stack.size();
            fibre.context.uc_link = &scheduler;
            makecontext(&fibre.context, entered, 0);
            fibre.waits = RUNS;
        }
        for (bool any = true; any;) {
            any = false;
            for (int t = 0; t < threads; ++t) {
                if (fibres[t].waits != RUNS) continue;
                any = true;
                threadIdx.x = t; blockIdx.x = b;
                swapcontext(&scheduler, &fibres[t].context);
            }
            if (any) continue;
            for (int first = 0; first < threads; first += 32) {
                const int last = min(first + 32, threads);
                bool all = true, none = true;
                for (int t = first; t < last; ++t) {
                    all &= fibres[t].waits == FOR_WARP || fibres[t].waits == ENDED;
                    none &= fibres[t].waits != FOR_WARP;
                }
                if (!all || none) continue;
                for (int t = first; t < last; ++t) if (fibres[t].waits == FOR_WARP) fibres[t].waits = RUNS, any = true;
            }
            if (any) continue;
            bool all = true, none = true;
            for (auto& fibre : fibres) {
                all &= fibre.waits == FOR_BLOCK || fibre.waits == ENDED;
                none &= fibre.waits != FOR_BLOCK;
            }
            if (all && !none) for (auto& fibre : fibres) if (fibre.waits == FOR_BLOCK) fibre.waits = RUNS, any = true;
            if (!all) __builtin_trap();  // some wait for their warp, the others for the block: a GPU would hang
        }
    }
}
#define __expf(x) std::exp(x)
#define __global__
#define __device__
#define __restrict__
#define __launch_bounds__(...)
#define SHARED(type, name) type* name = (type*)pool.data()
#define __syncthreads() wait(FOR_BLOCK)
#define __syncwarp() wait(FOR_WARP)
"""

_FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w")


@cache
def compile_for_cpu(text: str, name: str, shared_bytes: int) -> Launch:
    """As `mrac.gpu.kernels.source.compile_source`, for tensors of the CPU."""
    found = re.search(rf"__global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+{name}\(([^)]*)\)", text)
    assert found, f"no kernel {name}"
    parameters = found[1].replace("__restrict__", "")
    names = ", ".join(one.split()[-1].lstrip("*") for one in parameters.split(","))
    harness = f'extern "C" void run(int grid, int threads, int shared_bytes, {parameters}) {{\n'
    harness += f"    launch(grid, threads, shared_bytes, [=] {{ {name}({names}); }});\n}}\n"
    folder = Path(tempfile.mkdtemp(prefix="mrac-kernel-"))
    try:
        (folder / "kernel.cpp").write_text(SHIM + text + harness, encoding="utf-8")
        assert COMPILER is not None
        subprocess.run([COMPILER, *_FLAGS, "kernel.cpp", "-o", "kernel.so"], cwd=folder, check=True)
        run = ctypes.CDLL(str(folder / "kernel.so")).run
    finally:
        shutil.rmtree(folder)

    def launch(grid: int, threads: int, arguments: Sequence[Tensor | int], shared: int) -> None:
        assert shared == shared_bytes
        given: list[object] = []
        for one in arguments:
            if isinstance(one, Tensor):
                assert one.is_contiguous(), f"{name}: an argument is not contiguous"
                given.append(ctypes.c_void_p(one.data_ptr()))
            else:
                given.append(one)
        run(grid, threads, shared, *given)

    return launch


@contextmanager
def emulated() -> Iterator[None]:
    """Kernels of our own are in use inside, on the CPU."""
    on_gpu = source.compile_source
    source.compile_source = compile_for_cpu
    source._compiled.cache_clear()
    try:
        with source.own_kernels(True):
            yield
    finally:
        source.compile_source = on_gpu
        source._compiled.cache_clear()
