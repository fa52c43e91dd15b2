import json
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.foundation.onnx import Onnx
from tests.contract.test_foundation import picture, write_network


def test_sees_the_image_as_the_card_says(tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx")
    card = json.loads((tmp_path / "net.json").read_text())
    card |= {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.5, 0.5], "space": "log_depth"}
    (tmp_path / "net.json").write_text(json.dumps(card))
    image = np.full((24, 32, 3), 255, np.uint8)
    relative = Onnx(str(tmp_path / "net.onnx"))(image)
    np.testing.assert_allclose(relative.values, (2 + 1 + 1) / 3, rtol=1e-6)
    assert relative.space == "log_depth"


def test_the_map_lies_where_the_image_lies(tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx")
    image = picture(48, 64)
    relative = Onnx(str(tmp_path / "net.onnx"))(image)
    np.testing.assert_allclose(relative.values[4:-4, 4:-4], image.mean(axis=2)[4:-4, 4:-4] / 255, atol=0.01)


@pytest.mark.parametrize(
    ("card", "says"),
    [
        (None, "no such file; a card is needed"),
        ("{", "needed"),
        ('{"input_size": [24, 32]}', "'mean'"),
        ('{"input_size": [24, 32], "mean": [0, 0, 0], "std": [1, 1, 0], "space": "depth"}', "> 0"),
        ('{"input_size": [24, 32], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "disparity"}', "disparity"),
        ('{"input_size": [12, 32], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "depth"}', r"\(1, 3, 12, 32\)"),
    ],
)
def test_a_wrong_card_is_named(card: str | None, says: str, tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx")
    (tmp_path / "net.json").unlink()
    if card is not None:
        (tmp_path / "net.json").write_text(card)
    with pytest.raises(ContractError, match=says):
        Onnx(str(tmp_path / "net.onnx"))(picture())


def test_a_missing_network_is_named_before_its_card(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no file .*net\.onnx"):
        Onnx(str(tmp_path / "net.onnx"))(picture())


def test_a_network_of_three_maps_is_refused(tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx", channels=3)
    with pytest.raises(ContractError, match=r"one .* map is needed"):
        Onnx(str(tmp_path / "net.onnx"))(picture())


def test_what_is_no_network_is_named(tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx")
    (tmp_path / "net.onnx").write_bytes(b"nonsense")
    with pytest.raises(ContractError, match="not a usable ONNX file"):
        Onnx(str(tmp_path / "net.onnx"))(picture())


def test_the_identity_is_the_content_of_both_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_network(tmp_path / folder / "net.onnx")
    first, copy = (Onnx(str(tmp_path / folder / "net.onnx")) for folder in ("a", "b"))
    assert first.identity is not None
    assert first.identity == copy.identity
    card = tmp_path / "b" / "net.json"
    card.write_text(card.read_text().replace("inverse_depth", "depth"))
    assert copy.identity != first.identity
    write_network(tmp_path / "a" / "other.onnx", channels=3)
    assert Onnx(str(tmp_path / "a" / "other.onnx")).identity != first.identity
    assert Onnx(str(tmp_path / "missing.onnx")).identity is None


def test_weights_in_another_file_are_refused_and_have_no_identity(tmp_path: Path) -> None:
    write_network(tmp_path / "net.onnx", weights_file="weights")
    network = Onnx(str(tmp_path / "net.onnx"))
    assert network.identity is None
    with pytest.raises(ContractError, match=r"net\.onnx keeps weights \('w'\) in another file"):
        network(picture())
