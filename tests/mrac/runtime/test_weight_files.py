from pathlib import Path

import pytest

from mrac import ContractError
from mrac.runtime import weight_files
from mrac.runtime.weight_files import WEIGHTS, weights_path
from mrac.vi_depth.learner import open_learner


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights of an installed wheel: no learner of the scale map, no .safetensors."""
    for name in ("embedded.onnx", "vanilla.onnx", "consensus_learned.npz"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(weight_files, "WEIGHTS", tmp_path)
    return tmp_path


def test_a_bare_name_is_of_the_package_and_a_file_is_a_file() -> None:
    assert weights_path("vanilla", "head/x") == WEIGHTS / "vanilla.onnx"
    assert weights_path("vanilla", "head/x").is_file()
    assert weights_path("run/head.onnx", "head/x") == Path("run/head.onnx")
    assert weights_path("~/head.onnx", "head/x") == Path.home() / "head.onnx"


def test_a_file_that_the_wheel_leaves_out_is_named_with_where_it_is(wheel: Path) -> None:
    for weights in ("", "sml_retrained"):
        with pytest.raises(ContractError) as caught:
            open_learner(weights, "", 150)
        assert str(caught.value) == (
            "head/sml: sml_retrained.onnx is not part of the installed package, which has only embedded, vanilla; it "
            "is in the source checkout as src/mrac/weights/sml_retrained.onnx: point to it with --head sml:weights=FILE"
        )
    assert weights_path("vanilla", "head/x") == wheel / "vanilla.onnx"


def test_a_name_that_nobody_has_is_told_from_those_that_are_there(wheel: Path) -> None:
    with pytest.raises(ContractError, match=r"^head/x: no weights 'b_prime' in the package, only embedded, vanilla; "):
        weights_path("b_prime", "head/x")
