"""Locates weight files: those of the package by name, any other by path."""

from pathlib import Path
from typing import Final

from mrac.errors import ContractError
from mrac.io.files import user_path

WEIGHTS: Final = Path(__file__).parent.parent / "weights"
# In the source checkout only: the wheel leaves them out for their size.
_CHECKOUT_ONLY: Final = ("sml_retrained.onnx",)


def weights_path(weights: str, where: str) -> Path:
    """The file that `weights` names: one of the package by its bare name, any other by its path ending in .onnx.

    Args:
        weights: such as `vanilla` or `run/head.onnx`.
        where: the stage and its name, such as `head/sml`: starts the error message.

    Raises:
        ContractError: a bare name that is not in the package. Whether a path exists is checked when it is read.
    """
    if weights.endswith(".onnx"):
        return user_path(weights)
    path = WEIGHTS / f"{weights}.onnx"
    if path.is_file():
        return path
    known = ", ".join(sorted(p.stem for p in WEIGHTS.glob("*.onnx")))
    if path.name in _CHECKOUT_ONLY:
        raise ContractError(
            f"{where}: {path.name} is not part of the installed package, which has only {known}; it is in the source "
            f"checkout as src/mrac/weights/{path.name}: point to it with --{where.replace('/', ' ')}:weights=FILE"
        )
    raise ContractError(
        f"{where}: no weights {weights!r} in the package, only {known}; a file of your own is named with its .onnx"
    )
