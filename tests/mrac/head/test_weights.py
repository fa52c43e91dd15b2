"""Metadata of the learned heads' files, and the one-line errors for wrong files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mrac import ContractError, registry
from mrac.head._rendering import NUM_PIXELS
from mrac.head._weights import HeadFile
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from tests.mrac.head.conftest import write_with_metadata


@pytest.mark.parametrize("name", ["vanila", "run/head", ""])
def test_a_name_that_is_not_there_is_told_when_the_head_is_made(name: str) -> None:
    with pytest.raises(ContractError, match=r"head/residual_unet: no weights .*b_prime, .*vanilla.*; .* its \.onnx"):
        ResidualUnet(weights=name)


def test_the_file_says_what_it_is(variant: Callable[..., Path]) -> None:
    path = variant("scale_free", "inverse_depth")
    assert HeadFile.read(str(path), "residual", "x") == HeadFile(path, "scale_free", "inverse_depth", NUM_PIXELS)
    write_with_metadata(path, path.with_name("sized.onnx"), {"mrac.num_pixels": "1234"})
    assert HeadFile.read(str(path.with_name("sized.onnx")), "residual", "x").num_pixels == 1234


def test_a_file_of_the_other_kind_is_refused(residual: Path, raw: Path) -> None:
    with pytest.raises(ContractError, match=r"head/residual_unet: .*depth\.onnx has mrac\.kind = 'raw' where residual"):
        _ = ResidualUnet(weights=str(raw)).trained_space
    with pytest.raises(ContractError, match=r"head/raw_unet: .*vanilla\.onnx has mrac\.kind = 'residual' where raw"):
        _ = RawUnet(weights=str(residual)).trained_space
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
def test_what_it_says_must_be_known(key: str, value: str, says: str, residual: Path, tmp_path: Path) -> None:
    write_with_metadata(residual, tmp_path / "head.onnx", {key: value})
    with pytest.raises(ContractError, match=says):
        HeadFile.read(str(tmp_path / "head.onnx"), "residual", "head/x")


def test_a_missing_or_broken_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "head.onnx"
    with pytest.raises(ContractError, match=r"head/residual_unet: no file .*head\.onnx"):
        _ = ResidualUnet(weights=str(path)).trained_space
    path.write_bytes(b"nonsense")
    with pytest.raises(ContractError, match=r"head/residual_unet: .*head\.onnx is not a usable ONNX file"):
        _ = ResidualUnet(weights=str(path)).trained_space


def test_options_are_a_name_or_a_file(residual: Path) -> None:
    assert registry.create("head", "residual_unet").weights == "vanilla"
    assert registry.create("head", "residual_unet:b_prime").weights == "b_prime"
    assert registry.create("head", f"residual_unet:weights={residual},num_pixels=5000").num_pixels == 5000
    assert registry.create("head", "raw_unet").weights == "raw_depth"
    for wrong in ("num_pixels=-1", "num_pixels=1.5"):
        with pytest.raises(ContractError, match="num_pixels"):
            registry.create("head", f"residual_unet:{wrong}")
