"""Convolutions in 8 bits: nearly the same answer, weights of 7 bits, first and last as they were."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from click.testing import CliRunner
from onnx import numpy_helper
from PIL import Image
from torch import nn

from mrac.conventions import FloatArray, ImageArray
from mrac.foundation.embedded import network_input
from mrac.lab.cli.train import train_command
from mrac.lab.export.int8 import calibrated
from mrac.lab.export.onnx import export_onnx, split_output, write_model


def images(num: int) -> list[ImageArray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (48, 64, 3), dtype=np.uint8) for _ in range(num)]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Four convolutions with the same input and output as the embedded network's."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 1), nn.Conv2d(32, 16, 1), nn.Conv2d(16, 1, 1)]
    body = nn.Sequential(
        layers[0], nn.ReLU6(), layers[1], nn.ReLU6(), layers[2], nn.ReLU6(), layers[3], nn.AvgPool2d(2)
    )
    rows, columns = torch.export.Dim("rows", min=2), torch.export.Dim("columns", min=2)
    path = tmp_path / "network.onnx"
    sample = {"image": torch.rand(1, 3, 64, 96)}
    shapes = {"input": {2: 32 * rows, 3: 32 * columns}}
    export_onnx(body, path, sample, shapes, "log_depth")
    return path


def answer(path: Path, image: ImageArray) -> FloatArray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"image": network_input(image)})[0])


def test_the_answer_is_nearly_the_same_and_weights_have_7_bits(network: Path, tmp_path: Path) -> None:
    out = tmp_path / "int8.onnx"
    write_model(calibrated(network, images(4)), out)
    for image in images(6)[4:]:  # none that the ranges were taken from
        before, after = answer(network, image), answer(out, image)
        assert 0.0 < np.abs(after - before).max() < 0.05 * (before.max() - before.min())
    short = [numpy_helper.to_array(t) for t in onnx.load(out).graph.initializer]
    weights = [t for t in short if t.dtype == np.int8 and t.ndim == 4]
    assert [t.shape for t in weights] == [(32, 16, 1, 1), (16, 32, 1, 1)]  # neither the first nor the last
    assert all(np.abs(t).max() <= 64 for t in weights)


def test_the_command_takes_frames_of_every_set(network: Path, tmp_path: Path) -> None:
    rows = ["set,id,scene,rgb,depth,depth_scale,depth_offset"]
    for i, image in enumerate(images(5)):
        Image.fromarray(image).save(tmp_path / f"{i}.png")
        rows.append(f"{'ab'[i % 2]},{i},s,{i}.png,{i}.png,1,0")
    (tmp_path / "manifest.csv").write_text("\n".join(rows), encoding="utf-8")
    words = ["quantize", "--data", str(tmp_path), "--network", str(network), "--out", str(tmp_path / "o.onnx")]
    done = CliRunner().invoke(train_command, [*words, "--frames", "2", "--steps", "0"])
    assert done.exit_code == 0, done.output
    assert "4 images of 2 sets" in done.output.replace("\n", " ")


def test_a_split_output_stays_as_it_was(network: Path, tmp_path: Path) -> None:
    split, out = tmp_path / "split.onnx", tmp_path / "int8.onnx"
    model = onnx.load(network)
    split_output(model)
    split.write_bytes(model.SerializeToString())
    image = images(1)[0]
    np.testing.assert_allclose(answer(split, image), answer(network, image), rtol=1e-5, atol=1e-5)
    write_model(calibrated(split, images(4)), out)
    short = [numpy_helper.to_array(t) for t in onnx.load(out).graph.initializer]
    weights = [t.shape for t in short if t.dtype == np.int8 and t.ndim == 4]
    assert weights == [(32, 16, 1, 1), (16, 32, 1, 1)]  # the first, the last and its sum are in single precision
