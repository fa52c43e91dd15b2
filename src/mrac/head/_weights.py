"""The files of the learned heads: in the package by name, anywhere by path, and what each says of itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self, get_args

from mrac.errors import ContractError
from mrac.head._rendering import NUM_PIXELS, Form
from mrac.io.files import user_path
from mrac.runtime.onnx_session import network_metadata
from mrac.space import SPACES, Space

Kind = Literal["residual", "raw"]

_NUM_PIXELS: Final = "mrac.num_pixels"
_WEIGHTS: Final = Path(__file__).parent.parent / "weights"


@dataclass(frozen=True)
class Network:
    """A file of `train.residual_network.export_head`.

    Attributes:
        path: of the .onnx file.
        form: of its anchor channel and of its corrections.
        space: of the fit and of the relative field that it was trained on.
        num_pixels: of the largest images that it was trained on.
    """

    path: Path
    form: Form
    space: Space
    num_pixels: int = NUM_PIXELS

    @classmethod
    def read(cls, weights: str, kind: Kind, where: str) -> Self:
        """What the file called `weights` says of itself.

        Raises:
            ContractError: there is no such file, or it is not a network of that kind.
        """
        path = weights_path(weights, where)
        about = network_metadata(path, where)
        check_about(about, kind, f"{where}: {path}")
        num_pixels = int(about.get(_NUM_PIXELS, NUM_PIXELS))
        return cls(path, about["mrac.form"], about["mrac.space"], num_pixels)  # type: ignore[arg-type]


def check_about(about: Mapping[str, str], kind: Kind, where: str) -> None:
    """Raises `ContractError`, starting with `where`, unless `about` is what a file of that kind says of itself."""
    # A raw network has no fit that its anchors could be compared with.
    forms = get_args(Form) if kind == "residual" else ("metres",)
    for key, known in (("mrac.kind", (kind,)), ("mrac.form", forms), ("mrac.space", SPACES)):
        if about.get(key) not in known:
            raise ContractError(
                f"{where} has {key} = {about.get(key)!r} where {' or '.join(known)} is needed; "
                "heads are trained and exported by `mrac train`"
            )
    if not re.fullmatch("[1-9][0-9]{0,8}", about.get(_NUM_PIXELS, "1")):
        raise ContractError(f"{where} has {_NUM_PIXELS} = {about[_NUM_PIXELS]!r} where a whole number > 0 is needed")


def weights_path(weights: str, where: str) -> Path:
    """The file that `weights` names: one of the package by its bare name, any other by its path ending in .onnx.

    Raises:
        ContractError: a bare name that is not in the package; whether another file exists is seen when it is read.
    """
    if weights.endswith(".onnx"):
        return user_path(weights)
    path = _WEIGHTS / f"{weights}.onnx"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in _WEIGHTS.glob("*.onnx")))
        raise ContractError(
            f"{where}: no weights {weights!r} in the package, only {known}; a file of your own is named with its .onnx"
        )
    return path
