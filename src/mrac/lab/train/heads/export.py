"""A trained head's weights as the file that the torch-free runtime runs."""

from pathlib import Path
from typing import Final

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from mrac.errors import ContractError, first_line
from mrac.lab.export.onnx import Bits
from mrac.lab.export.scale_map import export_learner
from mrac.lab.train.heads.options import Kind
from mrac.lab.train.heads.residual_network import RawNetwork, ResidualNetwork, export_head
from mrac.vi_depth.network import ScaleMapLearner

EXPORT_BITS: Final[dict[Kind, Bits]] = {"residual": 16, "raw": 16, "sml": 8}
_NETWORKS: Final[dict[str, type[ResidualNetwork | RawNetwork | ScaleMapLearner]]] = {
    "residual": ResidualNetwork,
    "raw": RawNetwork,
    "sml": ScaleMapLearner,
}


def export_checkpoint(path: Path, onnx_path: Path) -> None:
    """Writes what a training left at `path` as ONNX, with words about it that the runtime reads.

    Raises:
        ContractError: `path` is not a head's .safetensors.
        MissingExtra: `onnx` and `onnxscript` are not installed.
    """
    network, words = read_checkpoint(path)
    if isinstance(network, ScaleMapLearner):
        export_learner(network, onnx_path, words, EXPORT_BITS["sml"])
    else:
        export_head(network, onnx_path, words)


def read_checkpoint(path: Path) -> tuple[ResidualNetwork | RawNetwork | ScaleMapLearner, dict[str, str]]:
    """The network that a training left at `path`, on the CPU, and the words about it that the runtime reads.

    Raises:
        ContractError: `path` is not a head's .safetensors.
    """
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, str] = file.metadata() or {}
        network = _NETWORKS[about["mrac.kind"]]()
        network.load_state_dict(load_file(path))
    except (SafetensorError, OSError, KeyError, RuntimeError) as error:
        raise ContractError(
            f"train: {path} is not a head of `mrac train` ({first_line(error)}); one of its .safetensors is needed"
        ) from None
    return network, {name: word for name, word in about.items() if name.startswith("mrac.")}
