"""Which file is meant, what belongs to it, and that it is loaded once."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import ContractError
from mrac.errors import MissingExtra
from mrac.runtime.onnx_session import network_metadata
from mrac.vi_depth import learner
from mrac.vi_depth.description import describe, described
from mrac.vi_depth.learner import open_learner
from mrac.vi_depth.predictors import Standardisation, predictor
from mrac.vi_depth.ranges import VOID, WIDE, Ranges

OUTDOOR = Ranges(max_depth_m=80.0, max_pred_m=80.0)
SHIPPED = Path(learner.__file__).parent.parent / "weights" / "sml_retrained.onnx"
X = np.zeros((1, 2, 64, 32), np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where published checkpoints lie: one that trusts the alignment, under two names."""
    import torch  # noqa: PLC0415

    from tests.networks.learners import hollow_state, lightning  # noqa: PLC0415

    made = tmp_path_factory.mktemp("published")
    for budget in (150, 500):
        torch.save(lightning(hollow_state()), made / predictor("dpt_large").learner_file(budget))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MRAC_VI_DEPTH", str(made))
        yield made


def test_the_package_s_own_is_the_default() -> None:
    for weights in ("", "sml_retrained"):
        trained = open_learner(weights, "", 150)
        assert trained.learner(X).shape == (1, 1, 64, 32)
        assert trained.ranges == WIDE


@pytest.mark.lab
@pytest.mark.parametrize("budget", [150, 500])
def test_a_predictor_finds_its_published_checkpoint(folder: Path, budget: int) -> None:
    trained = open_learner("", "dpt_large", budget)
    assert trained.standardisation == predictor("dpt_large").standardisation(budget)
    assert trained.ranges == VOID
    assert (trained.learner(X) == 1.0).all()


@pytest.mark.lab
def test_a_published_name_says_what_belongs_to_it(folder: Path, tmp_path: Path) -> None:
    named = folder / predictor("dpt_large").learner_file(500)
    assert open_learner(str(named), "", 150).standardisation == predictor("dpt_large").standardisation(500)
    with pytest.raises(ContractError, match="is for dpt_large and 500 readings, but predictor dpt_large and"):
        open_learner(str(named), "dpt_large", 150)
    pretrained = tmp_path / "sml_model.dpredictor.dpt_hybrid.nsamples.150.pretrained.ckpt"
    pretrained.write_bytes(named.read_bytes())
    assert open_learner(str(pretrained), "", 150).standardisation == predictor("dpt_hybrid").standardisation(150)
    other = tmp_path / "mine.ckpt"
    other.write_bytes(named.read_bytes())
    with pytest.raises(ContractError, match=r"mine.ckpt does not tell by its name .*predictor=NAME,budget=150"):
        open_learner(str(other), "", 150)
    assert open_learner(str(other), "midas_small", 1500).standardisation == predictor("midas_small").standardisation(
        1500
    )


@pytest.mark.lab
def test_a_missing_checkpoint_is_named_with_where_to_get_and_put_it(folder: Path) -> None:
    with pytest.raises(ContractError) as caught:
        open_learner("", "midas_small", 1500)
    for part in (
        f"no file {folder / 'sml_model.dpredictor.midas_small.nsamples.1500.ckpt'}. ",
        "release v1 of github.com/isl-org/VI-Depth",
        "MRAC_VI_DEPTH=FOLDER",
        "--head sml:weights=FILE",
    ):
        assert part in str(caught.value)


def test_without_a_variable_the_folder_is_in_the_user_s_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MRAC_VI_DEPTH", raising=False)
    if sys.platform != "linux":
        pytest.skip("elsewhere the cache lies in other places")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        ContractError, match=f"no file {tmp_path}/mrac/vi_depth/sml_model.dpredictor.dpt_large.nsamples.150"
    ):
        open_learner("", "dpt_large", 150)


@pytest.mark.parametrize("name", ["none.onnx", "none.safetensors", "sml_model.dpredictor.dpt_large.nsamples.150.ckpt"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=f"head/sml: no file {tmp_path / name}"):
        open_learner(str(tmp_path / name), "", 150)


def test_a_name_that_the_package_has_not_is_told_from_those_it_has() -> None:
    with pytest.raises(ContractError, match=r"head/sml: no weights 'sml_other' in the package, only .*sml_ret"):
        open_learner("sml_other", "", 150)


def test_a_file_s_own_words_count_unless_a_predictor_is_named() -> None:
    own = open_learner(str(SHIPPED), "", 150)
    assert (own.standardisation, own.ranges) == described(network_metadata(SHIPPED, "test"), "test")
    told = open_learner(str(SHIPPED), "dpt_large", 150)
    assert (told.standardisation, told.ranges) == (predictor("dpt_large").standardisation(150), VOID)


def test_a_network_of_another_kind_is_refused() -> None:
    with pytest.raises(ContractError, match=r"embedded.onnx does not say that it is a scale-map learner"):
        open_learner("embedded", "", 150)
    with pytest.raises(ContractError, match=r"embedded.onnx did not take a float32 input of shape \(1, 2, 64, 32\)"):
        open_learner("embedded", "dpt_large", 150).learner(X)


def test_an_output_of_another_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrac.vi_depth.learner.run_network", lambda *_: np.ones((1, 3, 64, 32), np.float32))
    with pytest.raises(ContractError, match=r"an output of shape \(1, 3, 64, 32\) where \(1, 1, 64, 32\) is needed"):
        open_learner("", "", 150).learner(X)


@pytest.mark.lab
def test_a_file_is_loaded_once_by_many_threads_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch  # noqa: PLC0415
    from safetensors.torch import save_file  # noqa: PLC0415

    from mrac.vi_depth import checkpoint  # noqa: PLC0415
    from mrac.vi_depth.network import ScaleMapLearner  # noqa: PLC0415

    path, loaded = tmp_path / "own.safetensors", []
    with torch.device("meta"):
        empty = ScaleMapLearner()

    def count(path: Path) -> Any:
        loaded.append(path)
        return empty

    monkeypatch.setattr(checkpoint, "load_learner", count)
    save_file({"any": torch.zeros(1)}, path, describe(Standardisation(0.4, 0.3, 0.45, 0.12), OUTDOOR))
    with ThreadPoolExecutor(8) as pool:
        ranges = list(pool.map(lambda _: open_learner(str(path), "", 150).ranges, range(16)))
    assert ranges == [OUTDOOR] * 16
    assert loaded == [path]
    os.utime(path, ns=(1, 1))
    open_learner(str(path), "", 150)
    assert loaded == [path, path]


@pytest.mark.parametrize("name", ["sml_model.dpredictor.dpt_large.nsamples.150.ckpt", "own.safetensors"])
def test_without_torch_the_extra_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_bytes(b"not read")
    monkeypatch.setitem(sys.modules, "mrac.vi_depth.checkpoint", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[torch\]"):
        open_learner(str(tmp_path / name), "", 150)
