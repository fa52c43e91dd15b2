"""The graph without weights: on a toy of the same architecture, at sizes that it was not traced at."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from transformers import DepthAnythingForDepthEstimation

from mrac.foundation.dav2_small import GRAPH
from mrac.lab.export.depth_anything import export_graph, official_name, small_config
from mrac.runtime.onnx_session import run_network
from mrac.runtime.onnx_weights import external_tensors
from tests.networks import published, toys


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint and the graph of its architecture."""
    folder = toys.save(toys.depth_anything(), tmp_path_factory.mktemp("toy"))
    export_graph(folder / "graph.onnx", toys.depth_anything())
    return folder


def test_equals_transformers_at_any_size(toy: Path) -> None:
    model = DepthAnythingForDepthEstimation.from_pretrained(toy).eval()
    for side in ((56, 56), (14, 98), (126, 42), (252, 336)):
        pixels = np.random.default_rng(0).standard_normal((1, 3, *side), np.float32)
        ours = run_network(toy / "graph.onnx", pixels, "x", weights=toy / "model.safetensors")
        with torch.inference_mode():
            theirs = model(pixel_values=torch.from_numpy(pixels)).predicted_depth.numpy()
        assert np.ptp(theirs) > 0.0
        np.testing.assert_allclose(ours, theirs, atol=2e-5 * float(np.ptp(theirs)), rtol=0)


def test_has_structure_and_names_alone(toy: Path) -> None:
    model = onnx.load(toy / "graph.onnx", load_external_data=False)
    stored = [one for one in model.graph.initializer if one.data_location != onnx.TensorProto.EXTERNAL]
    inside = [a for node in model.graph.node for a in node.attribute if a.type == onnx.AttributeProto.TENSOR]
    largest = max([onnx.numpy_helper.to_array(a.t).size for a in inside] + [0])
    assert not stored
    assert largest < 10
    # No path of the machine that made it; a "/" may also be the number of bytes of something.
    assert b".py" not in (toy / "graph.onnx").read_bytes() + GRAPH.read_bytes()


def test_the_shipped_graph_is_of_the_published_architecture() -> None:
    assert small_config().to_dict() == published.depth_anything("small").to_dict()
    network = published.build(small_config(), "meta")
    shapes = {official_name(name): tuple(values.shape) for name, values in network.state_dict().items()}
    needed = external_tensors(GRAPH.read_bytes())
    assert needed.items() <= shapes.items()
    unused = {name.rpartition(".")[0] for name in shapes.keys() - needed.keys()}
    unit = "neck.fusion_stage.layers.0.residual_layer1.convolution"
    assert unused == {"backbone.embeddings", f"{unit}1", f"{unit}2"}
