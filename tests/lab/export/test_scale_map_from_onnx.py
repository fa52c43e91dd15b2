from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from mrac.errors import ContractError
from mrac.lab.export.scale_map_from_onnx import learner_from_onnx
from mrac.runtime.weight_files import weights_path
from mrac.vi_depth.learner import open_learner
from mrac.vi_depth.network import predict_scale
from tests.lab.float32_error import summation_error

SHIPPED = weights_path("sml_retrained", "test")
X = np.random.default_rng(0).normal(size=(1, 2, 64, 96)).astype(np.float32)


def test_it_is_the_file_s_network() -> None:
    wanted = open_learner("sml_retrained", "", 150).learner(X)
    network = learner_from_onnx(SHIPPED)
    assert not network.training
    assert wanted.std() > 0.01
    allowed = summation_error(network) * float(np.abs(wanted).max())
    np.testing.assert_allclose(predict_scale(network, X), wanted, rtol=0, atol=allowed)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())


def test_another_s_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="is not of the scale-map learner"):
        learner_from_onnx(weights_path("vanilla", "test"))
    (tmp_path / "broken.onnx").write_bytes(b"no network")
    with pytest.raises(ContractError, match="is not a usable ONNX file"):
        learner_from_onnx(tmp_path / "broken.onnx")


def test_a_weight_that_is_computed_in_an_unknown_way_is_named(tmp_path: Path) -> None:
    model = onnx.load(str(SHIPPED))
    for constant in model.graph.initializer:
        if constant.name == "first.0.weight":
            constant.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(constant), "renamed"))
    onnx.save(model, str(tmp_path / "odd.onnx"))
    with pytest.raises(ContractError, match=r"no weights 'first\.0\.weight'"):
        learner_from_onnx(tmp_path / "odd.onnx")
