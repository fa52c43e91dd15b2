"""The file says what torch says, is small, and does not tell where it was made."""

import re
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from mrac.errors import MissingExtra
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.lab.export.onnx import Bits, export_onnx
from mrac.lab.train.foundation.run import export_foundation


class Toy(nn.Module):
    """A filter that drops in training, and a matrix large enough to be shortened."""

    def __init__(self) -> None:
        super().__init__()
        self.filter, self.drop, self.mix = nn.Conv2d(3, 200, 1), nn.Dropout(0.5), nn.Linear(200, 200)

    def forward(self, image: Tensor) -> Tensor:
        return self.mix(self.drop(self.filter(image)).permute(0, 2, 3, 1))  # type: ignore[no-any-return]


def lively(network: DepthNetwork) -> DepthNetwork:
    """As after training: no batch norm does nothing, the last layer is not zero, outputs of the size of a log depth."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.weight.uniform_(0.8, 1.2, generator=generator)
                module.bias.normal_(0.0, 0.1, generator=generator)
                assert module.running_mean is not None
                assert module.running_var is not None
                module.running_mean.normal_(0.0, 0.1, generator=generator)
                module.running_var.uniform_(0.5, 2.0, generator=generator)
        network.out.weight.normal_(0.0, 0.1, generator=generator)
    return network.eval()


@lru_cache
def load(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path: Path, image: Tensor) -> Any:
    session = load(path)
    return session.run(None, {session.get_inputs()[0].name: image.numpy()})[0]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[DepthNetwork, Path]:
    torch.manual_seed(0)
    network, path = lively(DepthNetwork(NetworkOptions())), tmp_path_factory.mktemp("export") / "network.onnx"
    export_foundation(network, path)
    return network, path


@pytest.mark.parametrize("num", [1, 2])
@pytest.mark.parametrize("size", [(32, 32), (64, 96), (288, 384), (160, 608), (384, 64)])
def test_says_what_torch_says(exported: tuple[DepthNetwork, Path], size: tuple[int, int], num: int) -> None:
    network, path = exported
    image = torch.rand(num, 3, *size, generator=torch.Generator().manual_seed(1)) * 255
    with torch.no_grad():
        expected = network(image).numpy()
    assert expected.std() > 0.05
    np.testing.assert_allclose(run(path, image), expected, atol=1e-4 * max(1.0, float(np.abs(expected).max())))


def test_is_small_enough_to_ship(exported: tuple[DepthNetwork, Path]) -> None:
    assert 10_000_000 < exported[1].stat().st_size <= 12_000_000


def test_tells_nothing_of_the_machine(exported: tuple[DepthNetwork, Path]) -> None:
    content = exported[1].read_bytes()
    for folder in (Path.cwd(), Path.home(), Path(sys.prefix), Path(torch.__file__).parent):
        assert str(folder).encode() not in content or str(folder) == "/"
    model = onnx.load_from_string(content)
    for constant in model.graph.initializer:
        constant.ClearField("raw_data")  # among millions of random bytes any four letters will be found
    assert not re.search(rb"\.py|site-packages|Traceback|stack_trace|/\w+/", model.SerializeToString())


def test_takes_any_batch_and_names_its_ends(exported: tuple[DepthNetwork, Path]) -> None:
    session = load(exported[1])
    (image,), (log_depth,) = session.get_inputs(), session.get_outputs()
    assert (image.name, log_depth.name) == ("image", "log_depth")
    assert image.shape[1] == 3
    assert not any(isinstance(image.shape[axis], int) for axis in (0, 2, 3))


def export_toy(path: Path, network: nn.Module, about: dict[str, str] | None = None, bits: Bits = 16) -> None:
    shapes = {"image": {0: torch.export.Dim("batch"), 2: torch.export.Dim("rows"), 3: torch.export.Dim("columns")}}
    export_onnx(network, path, {"image": torch.zeros(2, 3, 4, 5)}, shapes, "out", about, bits)


def test_quiet_and_without_a_trace_on_the_network(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    network = Toy().train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_toy(tmp_path / "toy.onnx", network)
    assert capfd.readouterr() == ("", "")
    assert network.training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert [p.name for p in tmp_path.iterdir()] == ["toy.onnx"]
    image = torch.rand(1, 3, 7, 6)
    with torch.no_grad():
        expected = network.eval()(image).numpy()
    np.testing.assert_allclose(run(tmp_path / "toy.onnx", image), expected, atol=1e-4)


def test_large_constants_are_stored_in_16_bits(tmp_path: Path) -> None:
    network = Toy()
    with torch.no_grad():
        network.mix.weight[0] = 0.0  # an output that is never used has no scale to speak of
        network.mix.weight[1] *= 1e4
    export_toy(tmp_path / "toy.onnx", network)
    kinds = {c.data_type: c for c in onnx.load(str(tmp_path / "toy.onnx")).graph.initializer}
    assert onnx.TensorProto.INT16 in kinds
    assert (tmp_path / "toy.onnx").stat().st_size < 2.2 * 200 * 200 + 10_000
    image = torch.rand(1, 3, 3, 3)
    with torch.no_grad():
        expected = network.eval()(image).numpy()
    got = run(tmp_path / "toy.onnx", image)
    np.testing.assert_allclose(got[..., 0], expected[..., 0], atol=1e-6)
    np.testing.assert_allclose(got[..., 2:], expected[..., 2:], atol=1e-4, err_msg="rounded by its neighbour's scale")


def test_in_8_bits_large_constants_take_a_byte_each_and_words_stay(tmp_path: Path) -> None:
    network = Toy().eval()
    export_toy(tmp_path / "toy.onnx", network, {"mrac.kind": "toy", "übrigens": "naïve"}, 8)
    kinds = {c.data_type for c in onnx.load(str(tmp_path / "toy.onnx")).graph.initializer}
    assert onnx.TensorProto.INT8 in kinds
    assert (tmp_path / "toy.onnx").stat().st_size < 1.2 * 200 * 200 + 10_000
    meta = load(tmp_path / "toy.onnx").get_modelmeta()
    assert meta.custom_metadata_map == {"mrac.kind": "toy", "übrigens": "naïve"}
    image = torch.rand(1, 3, 3, 3)
    with torch.no_grad():
        expected = network(image).numpy()
        step = network.mix.weight.abs().amax(dim=1).numpy() / 127
        through = network.filter(image).abs().sum(dim=1).numpy()[..., None]
    got = run(tmp_path / "toy.onnx", image)
    assert (np.abs(got - expected) <= 0.5 * step * through + 1e-5).all()
    assert np.abs(got - expected).max() > 1e-4


def test_the_same_network_is_the_same_bytes_whatever_the_order_of_its_words(tmp_path: Path) -> None:
    network, words = Toy().eval(), {"mrac.kind": "toy", "mrac.form": "metres", "mrac.space": "depth"}
    export_toy(tmp_path / "a.onnx", network, words, 16)
    export_toy(tmp_path / "b.onnx", network, dict(reversed(words.items())), 16)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


@pytest.mark.parametrize("package", ["onnx", "onnxscript"])
def test_what_is_missing_is_named(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[lab\]"):
        export_toy(tmp_path / "toy.onnx", Toy())
