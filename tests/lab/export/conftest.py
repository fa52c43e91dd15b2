from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from mrac.lab.export.scale_map import export_learner
from mrac.lab.train.foundation.rounding import round_weights
from mrac.vi_depth.description import describe
from mrac.vi_depth.network import ScaleMapLearner
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import WIDE
from tests.networks.learners import random_state


class Exported(NamedTuple):
    """A learner with random weights, what rounding to 8 bits makes of it, and the file of the latter."""

    network: ScaleMapLearner
    rounded: ScaleMapLearner
    path: Path
    about: dict[str, str]


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exported]:
    network, rounded = ScaleMapLearner().eval(), ScaleMapLearner().eval()
    network.load_state_dict(random_state())
    with torch.no_grad():  # an answer of the size that a trained one gives
        network.get_parameter("scratch.output_conv.output_conv.4.weight").mul_(30.0)
    rounded.load_state_dict(network.state_dict())
    round_weights(rounded, 8)
    about = describe(Standardisation(0.4, 0.3, 0.45, 0.12), WIDE)
    path = tmp_path_factory.mktemp("exported") / "learner.onnx"
    export_learner(rounded, path, {**about, "mrac.recipe": "none"})
    yield Exported(network, rounded, path, about)
    path.unlink()  # 18 MB, and pytest keeps folders
