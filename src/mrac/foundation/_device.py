"""Device and floating-point precision of a torch network: the only settings that differ between machines."""

from dataclasses import dataclass
from typing import Any, Final

from mrac.errors import ContractError, MissingExtra, first_line

DTYPES: Final = ("auto", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class ComputeDevice:
    """A device of this machine and a precision, `auto` resolved.

    Attributes:
        name: `cpu`, `cuda`, `cuda:1`, `mps`, ...
        dtype: `float32`, `float16` or `bfloat16`.
    """

    name: str
    dtype: str

    @property
    def kind(self) -> str:
        """The name without a number: `cuda` of `cuda:1`."""
        return self.name.partition(":")[0]


def check_dtype(dtype: str, where: str) -> None:
    """Raises `ContractError` unless `dtype` is one of `DTYPES`."""
    if dtype not in DTYPES:
        raise ContractError(f"{where}: dtype {dtype!r}; one of {', '.join(DTYPES)} is needed")


def import_torch(where: str) -> Any:
    """The torch module.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import torch  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra(where, "torch") from None
    return torch


def resolve_device(name: str, dtype: str, where: str) -> ComputeDevice:
    """Resolves `auto`: the GPU if there is one, with half precision; else single precision.

    On a GPU, bfloat16 is preferred to float16: the rare overflow in a ViT's attention would be a hole in the map.

    Raises:
        ContractError: the device is not on this machine.
        MissingExtra: torch is not installed.
    """
    torch = import_torch(where)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        kind = torch.device(name).type
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ContractError(f"{where}: device {name!r} is not usable here: {first_line(error)}") from None
    if dtype == "auto":
        half = "bfloat16" if kind == "cuda" and torch.cuda.is_bf16_supported() else "float16"
        dtype = half if kind == "cuda" else "float32"
    return ComputeDevice(name, dtype)
