"""Which file a name means, and that a wrong one is told in one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from mrac import ContractError, registry
from mrac.head._rendering import NUM_PIXELS
from mrac.head._weights import Network, weights_path
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from tests.mrac.head.conftest import Written, rewrite


def test_a_bare_name_is_of_the_package_and_a_file_is_a_file() -> None:
    shipped = weights_path("vanilla", "head/x")
    assert shipped.is_file()
    assert shipped.parent.name == "weights"
    assert weights_path("run/head.onnx", "head/x") == Path("run/head.onnx")
    assert weights_path("~/head.onnx", "head/x") == Path.home() / "head.onnx"


@pytest.mark.parametrize("name", ["vanilla", "b_prime", "raw_depth"])
def test_what_ships_has_the_papers_number_of_parameters(name: str) -> None:
    graph = onnx.load(str(weights_path(name, "head/x"))).graph
    num = sum(int(np.prod(constant.dims)) for constant in graph.initializer)
    assert 465_000 <= num <= 477_000  # beside the weights, the scales of those in 16 bits and what the norms need


@pytest.mark.parametrize("name", ["vanila", "run/head", ""])
def test_a_name_that_is_not_there_is_told_when_the_head_is_made(name: str) -> None:
    with pytest.raises(ContractError, match=r"head/residual_unet: no weights .*b_prime, .*vanilla; .* its \.onnx"):
        ResidualUnet(weights=name)


def test_the_file_says_what_it_is(variant: Callable[..., Path]) -> None:
    path = variant("scale_free", "inverse_depth")
    assert Network.read(str(path), "residual", "x") == Network(path, "scale_free", "inverse_depth", NUM_PIXELS)
    model = onnx.load(str(path))
    rewrite(model, {}, {"mrac.num_pixels": "1234"})
    onnx.save(model, str(path.with_name("sized.onnx")))
    assert Network.read(str(path.with_name("sized.onnx")), "residual", "x").num_pixels == 1234


def test_a_file_of_the_other_kind_is_refused(residual: Written, raw: Written) -> None:
    with pytest.raises(ContractError, match=r"head/residual_unet: .*raw\.onnx has mrac\.kind = 'raw' where residual"):
        _ = ResidualUnet(weights=str(raw[1])).trained_space
    with pytest.raises(ContractError, match=r"head/raw_unet: .*residual\.onnx has mrac\.kind = 'residual' where raw"):
        _ = RawUnet(weights=str(residual[1])).trained_space
    with pytest.raises(ContractError, match=r"embedded\.onnx has mrac\.kind = None"):
        _ = ResidualUnet(weights="embedded").trained_space


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("mrac.form", "feet", "mrac.form = 'feet' where metres or scale_free is needed"),
        ("mrac.space", "disparity", "mrac.space = 'disparity' where depth or inverse_depth or log_depth"),
        ("mrac.num_pixels", "0", "mrac.num_pixels = '0' where a whole number > 0"),
        ("mrac.num_pixels", "many", "mrac.num_pixels = 'many'"),
    ],
)
def test_what_it_says_must_be_known(key: str, value: str, says: str, residual: Written, tmp_path: Path) -> None:
    model = onnx.load(str(residual[1]))
    rewrite(model, {}, {key: value})
    onnx.save(model, str(tmp_path / "head.onnx"))
    with pytest.raises(ContractError, match=says):
        Network.read(str(tmp_path / "head.onnx"), "residual", "head/x")


def test_a_missing_or_broken_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "head.onnx"
    with pytest.raises(ContractError, match=r"head/residual_unet: no file .*head\.onnx"):
        _ = ResidualUnet(weights=str(path)).trained_space
    path.write_bytes(b"nonsense")
    with pytest.raises(ContractError, match=r"head/residual_unet: .*head\.onnx is not a usable ONNX file"):
        _ = ResidualUnet(weights=str(path)).trained_space


def test_options_are_a_name_or_a_file(residual: Written) -> None:
    assert registry.create("head", "residual_unet").weights == "vanilla"
    assert registry.create("head", "residual_unet:b_prime").weights == "b_prime"
    assert registry.create("head", f"residual_unet:weights={residual[1]},num_pixels=5000").num_pixels == 5000
    assert registry.create("head", "raw_unet").weights == "raw_depth"
    for wrong in ("num_pixels=-1", "num_pixels=1.5"):
        with pytest.raises(ContractError, match="num_pixels"):
            registry.create("head", f"residual_unet:{wrong}")
