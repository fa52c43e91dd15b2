"""Networks of `mrac train foundation` and `mrac train student`, read back from their ONNX files."""

from pathlib import Path

from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.gpu.published import filled, weights_of
from mrac.lab.train.small_network import SmallNetwork


def trained_network(path: Path) -> DepthNetwork | SmallNetwork:
    """Whichever of the two the file holds, ready to predict.

    Raises:
        ContractError: the file is missing, damaged, or of another network.
    """
    weights = weights_of(path)
    if "detail.conv.weight" in weights:
        return filled(SmallNetwork, weights, path)
    return filled(lambda: DepthNetwork(NetworkOptions()), weights, path)
