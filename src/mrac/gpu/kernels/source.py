"""CUDA kernels of our own: compiled by NVRTC, which torch brings along, when one is first needed.

A kernel is in a `.cu` file beside its wrapper in Python; `common.cuh` is put in front of each. Constants of the method
come from the reference's modules as macros, so that no number stands twice. `tests/mrac/gpu/emulation.py` compiles the
same files for a CPU.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import torch
from torch import Tensor

SHARED_BYTES: Final = 227 * 1024  # of memory that a block of threads may have on an H100 or H200
WARP: Final = 32
_FOLDER: Final = Path(__file__).parent
# NVRTC brings no headers: what of them is needed stands here.
_PRELUDE: Final = """#define SHARED(type, name) extern __shared__ type name[]
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
"""

_TORCH: Final = tuple(int(part) for part in torch.__version__.split(".")[:2])
_SINCE: Final = (2, 11)  # `torch.cuda._compile_kernel` is no public part of torch: not before what it was tried with

Value = int | float | str
_in_use = False
_started: "list[Source]" = []


class Launch(Protocol):
    """A compiled kernel."""

    def __call__(self, grid: int, threads: int, arguments: Sequence[Tensor | int], shared_bytes: int, /) -> None:
        """Starts `grid` blocks of `threads` threads."""


def fit_on(device: torch.device) -> bool:
    """Whether all kernels run on a device: the largest need `SHARED_BYTES`, and torch what it compiles them with."""
    if device.type != "cuda" or _TORCH < _SINCE:
        return False
    most: int = getattr(torch.cuda.get_device_properties(device), "shared_memory_per_block_optin", 0)
    return most >= SHARED_BYTES


def in_use() -> bool:
    """Whether what is computed or recorded now goes through kernels of our own."""
    return _in_use


@contextmanager
def own_kernels(use: bool) -> Iterator[None]:
    """Whether kernels of our own take the place of torch's operations in what is computed or recorded inside.

    It holds for the whole process: warm calibrators up in one thread, before others compute.
    """
    global _in_use  # noqa: PLW0603
    before, _in_use = _in_use, use
    try:
        yield
    finally:
        _in_use = before


class Source(NamedTuple):
    """A function of a `.cu` file.

    Attributes:
        file: of this folder.
        name: of the function: its arguments are the tensors that it reads, those that it writes, then whole numbers.
        macros: what the file needs to be defined.
    """

    file: str
    name: str
    macros: str

    @classmethod
    def of(cls, file: str, name: str, constants: Mapping[str, Value]) -> "Source":
        """With these constants: numbers, or names."""
        return cls(file, name, "".join([f"#define {key} {_text(value)}\n" for key, value in constants.items()]))


def start(
    source: Source, blocks: tuple[int, int, int], read: list[Tensor], written: list[Tensor], numbers: list[int]
) -> None:
    """Starts a kernel, which is compiled before the first time.

    Args:
        source: of the kernel.
        blocks: how many, threads of each, and bytes of memory that the threads of one share.
        read: tensors.
        written: contiguous tensors, none twice; every number is written.
        numbers: below 2³¹.
    """
    given = [part.contiguous() for part in read]
    _launch(_number_of(*source), blocks, given, written, numbers)


@torch.library.custom_op("mrac::launch", mutates_args=("written",))
def _launch(
    number: int, blocks: Sequence[int], read: Sequence[Tensor], written: Sequence[Tensor], numbers: Sequence[int]
) -> None:
    """Starts the kernel of that number: an operation of torch's own, so that `torch.compile` leaves it whole.

    By number, because torch 2.11 forgets the quotes when it writes a call with a string.
    """
    grid, threads, shared_bytes = blocks
    _compiled(number, shared_bytes)(grid, threads, [*read, *written, *numbers], shared_bytes)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _number_of(*source: str) -> int:
    """The place of a source among all that were started in this process."""
    if source not in _started:
        _started.append(Source(*source))
    return _started.index(Source(*source))


@cache
def _compiled(number: int, shared_bytes: int) -> Launch:
    source = _started[number]
    text = "".join((_FOLDER / part).read_text(encoding="utf-8") for part in ("common.cuh", source.file))
    return compile_source(source.macros + text, source.name, shared_bytes)


def compile_source(source: str, name: str, shared_bytes: int) -> Launch:
    """A kernel for the GPU that is there."""
    compiled: Any = torch.cuda._compile_kernel(_PRELUDE + source, name)
    compiled.set_shared_memory_config(shared_bytes)

    def launch(grid: int, threads: int, arguments: Sequence[Tensor | int], shared_bytes: int) -> None:
        compiled((grid, 1, 1), (threads, 1, 1), list(arguments), shared_bytes)

    return launch


def _text(value: Value) -> str:
    return f"({value!r})" if isinstance(value, float) else str(int(value) if isinstance(value, bool) else value)
