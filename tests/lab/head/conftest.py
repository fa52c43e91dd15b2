"""Learned heads exported with torch: files, and the networks they were written from."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from mrac.head._rendering import Form
from mrac.lab.train.heads.residual_network import HeadNetwork, RawNetwork, ResidualNetwork, export_head
from mrac.space import Space
from tests.lab.one_thread import one_thread
from tests.lab.train.heads.test_residual_network import lively

__all__ = ["one_thread"]

Written = tuple[HeadNetwork, Path]


@pytest.fixture(scope="package")
def residual(tmp_path_factory: pytest.TempPathFactory) -> Written:
    torch.manual_seed(0)
    network, path = lively(ResidualNetwork()), tmp_path_factory.mktemp("heads") / "residual.onnx"
    with torch.no_grad():
        network.out.weight *= 0.3  # corrections of some ten per cent, so that no depth ends at the clip
        cast("Tensor", network.out.bias).copy_(torch.tensor([0.02, 0.03, -3.0]))
    export_head(network, path, {"mrac.form": "metres", "mrac.space": "depth"})
    return network, path


@pytest.fixture(scope="package")
def raw(residual: Written) -> Written:
    """The residual network with two of its outputs, three metres added: exporting takes ten seconds, and this none."""
    raw, path = RawNetwork(), residual[1].with_name("raw.onnx")
    state = residual[0].state_dict()
    state["out.weight"], state["out.bias"] = state["out.weight"][:2], raw.out.bias
    raw.load_state_dict(state)
    model = onnx.load(str(residual[1]))
    replaced = {name: state[name].detach().numpy() for name in ("out.weight", "out.bias")}
    rewrite(model, replaced, {"mrac.kind": "raw"})
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 2
    onnx.save(model, str(path))
    return raw.eval(), path


@pytest.fixture(scope="package")
def variant(residual: Written) -> Callable[..., Path]:
    """The residual network's file with another form or space written into it, or with its last layer not trained."""

    def make(form: Form = "metres", space: Space = "depth", *, untrained: bool = False) -> Path:
        path = residual[1].with_name(f"{form}-{space}-{untrained}.onnx")
        if not path.exists():
            model = onnx.load(str(residual[1]))
            zeros = {"out.weight": np.zeros((3, 16, 3, 3), np.float32), "out.bias": np.zeros(3, np.float32)}
            rewrite(model, zeros if untrained else {}, {"mrac.form": form, "mrac.space": space})
            onnx.save(model, str(path))
        return path

    return make


def rewrite(model: Any, constants: Mapping[str, NDArray[np.float32]], about: Mapping[str, str]) -> None:
    for constant in model.graph.initializer:
        if constant.name in constants:
            constant.CopyFrom(numpy_helper.from_array(constants[constant.name], constant.name))
    props = {one.key: one.value for one in model.metadata_props}
    onnx.helper.set_model_props(model, props | dict(about))
