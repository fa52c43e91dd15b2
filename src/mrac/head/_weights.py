"""ONNX files of the learned heads: their metadata, read and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self, get_args

from mrac.errors import ContractError
from mrac.head._rendering import NUM_PIXELS, Form
from mrac.runtime.onnx_session import network_metadata
from mrac.runtime.weight_files import weights_path
from mrac.space import SPACES, Space

Kind = Literal["residual", "raw"]

_NUM_PIXELS: Final = "mrac.num_pixels"


@dataclass(frozen=True)
class HeadFile:
    """A learned head's ONNX file and its metadata, as `lab.train.heads.residual_network.export_head` writes them.

    Attributes:
        path: of the .onnx file.
        form: units of its anchor channel and of its corrections.
        space: of the fit and of the relative field that it was trained on.
        num_pixels: of the largest images that it was trained on.
    """

    path: Path
    form: Form
    space: Space
    num_pixels: int = NUM_PIXELS

    @classmethod
    def read(cls, weights: str, kind: Kind, where: str) -> Self:
        """Reads the metadata of the file that `weights` names.

        Raises:
            ContractError: there is no such file, or it is not a network of that kind.
        """
        path = weights_path(weights, where)
        metadata = network_metadata(path, where)
        check_metadata(metadata, kind, f"{where}: {path}")
        num_pixels = int(metadata.get(_NUM_PIXELS, NUM_PIXELS))
        return cls(path, metadata["mrac.form"], metadata["mrac.space"], num_pixels)  # type: ignore[arg-type]


def check_metadata(metadata: Mapping[str, str], kind: Kind, where: str) -> None:
    """Checks that `metadata` is that of a head's file of this kind.

    Raises:
        ContractError: it is not; the message starts with `where`.
    """
    # A raw network uses no fit that its anchors could be compared with.
    forms = get_args(Form) if kind == "residual" else ("metres",)
    for key, known in (("mrac.kind", (kind,)), ("mrac.form", forms), ("mrac.space", SPACES)):
        if metadata.get(key) not in known:
            raise ContractError(
                f"{where} has {key} = {metadata.get(key)!r} where {' or '.join(known)} is needed; "
                "heads are trained and exported by `mrac train`"
            )
    if not re.fullmatch("[1-9][0-9]{0,8}", metadata.get(_NUM_PIXELS, "1")):
        raise ContractError(f"{where} has {_NUM_PIXELS} = {metadata[_NUM_PIXELS]!r} where a whole number > 0 is needed")
