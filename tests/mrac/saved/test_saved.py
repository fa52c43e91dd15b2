"""A calibrator as a folder: comes back the same, elsewhere too; a changed or hostile folder is refused in words."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import Calibrator, ContractError
from mrac.foundation.embedded import NETWORK
from mrac.runtime.weight_files import WEIGHTS
from mrac.saved.folder import load_saved, save
from tests.conftest import MadeScene
from tests.onnx_file import Node, write_onnx

CARD = '{"input_size": [16, 16], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "inverse_depth"}'


def own_network(folder: Path) -> Path:
    """A network that takes the mean of the channels for inverse depth, with its card."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mine.onnx"
    write_onnx(path, [Node("ReduceMean", ["x"], "y")], {"x": (1, 3, 16, 16)}, {"y": (1, 1, 1, 1)})
    path.with_suffix(".json").write_text(CARD, encoding="utf-8")
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A saved calibrator with weights of the user's own in two stages."""
    head = shutil.copy(WEIGHTS / "vanilla.onnx", tmp_path / "head.onnx")
    network = shutil.copy(NETWORK, tmp_path / "net.onnx")
    made = Calibrator("mrac", foundation=f"embedded:path={network},mirror=false", head=f"residual_unet:weights={head}")
    return made.save(tmp_path / "saved")


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    path = folder / "calibrator.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.mark.parametrize("method", ["default", "mrac", "cfa_ransac"])
def test_a_method_comes_back(method: str, tmp_path: Path) -> None:
    made = Calibrator(method, gate="theil_sen_mad:kappa=3", cache=tmp_path / "cache")
    again = Calibrator.load(made.save(tmp_path / "saved"))
    assert again.config() == {key: value for key, value in made.config().items() if key != "cache"}
    assert again.cache is None
    assert sorted(file.name for file in (tmp_path / "saved").iterdir()) == ["README.md", "calibrator.json"]
    assert Calibrator.load(tmp_path / "saved", cache=tmp_path / "cache").cache is not None


def test_a_name_is_a_method() -> None:
    assert Calibrator.load("cfa_ols").config() == Calibrator("cfa_ols").config()


def test_own_weights_move_along(saved: Path, tmp_path: Path, make_scene: Callable[..., MadeScene]) -> None:
    scene = make_scene(shape=(32, 48))
    first = Calibrator.load(saved)(scene.image, scene.anchors)
    (tmp_path / "head.onnx").unlink()
    (tmp_path / "net.onnx").unlink()
    elsewhere = saved.rename(tmp_path / "elsewhere")
    again = Calibrator.load(str(elsewhere))
    np.testing.assert_array_equal(again(scene.image, scene.anchors).depth_m, first.depth_m)
    plain = Calibrator("mrac", foundation="embedded:mirror=false", head="residual_unet:weights=vanilla")
    np.testing.assert_array_equal(first.depth_m, plain(scene.image, scene.anchors).depth_m)
    assert again.save(elsewhere) == elsewhere, "where it was loaded from"
    assert Calibrator.load(elsewhere).config() == again.config()


def test_the_card_of_a_network_moves_along(tmp_path: Path) -> None:
    path = own_network(tmp_path / "own")
    folder = Calibrator(foundation=f"onnx:{path}").save(tmp_path / "saved")
    again = Calibrator.load(folder)
    assert Path(again.foundation.path) == folder / "weights" / "foundation" / "path" / "mine.onnx"  # type: ignore[attr-defined]
    assert again.foundation.identity == Calibrator(foundation=f"onnx:{path}").foundation.identity is not None


def test_the_model_card_states_the_terms(saved: Path, tmp_path: Path) -> None:
    card = (saved / "README.md").read_text(encoding="utf-8")
    assert "`weights/head/weights/head.onnx`: the terms of whoever made it" in card
    assert "To be added" in card
    assert "research only" not in card, "neither network of the package is in it"
    Calibrator().save(tmp_path / "ours")
    ours = (tmp_path / "ours" / "README.md").read_text(encoding="utf-8")
    assert "- research only: embedded.onnx; consensus_learned.npz" in ours
    assert "To be added" not in ours
    named = Calibrator("open", foundation="dav2-large").save(tmp_path / "named")
    assert "non-commercial" in (named / "README.md").read_text(encoding="utf-8")


def test_a_file_that_was_changed_is_refused(saved: Path) -> None:
    path = saved / "weights" / "head" / "weights" / "head.onnx"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ContractError, match=r"head\.onnx: its content is not what was saved \(size or SHA-256\)"):
        Calibrator.load(saved)
    path.unlink()
    with pytest.raises(ContractError, match=r"head\.onnx: no such file; copy the whole folder"):
        Calibrator.load(saved)


@pytest.mark.parametrize("outside", ["../net.onnx", "/etc/hostname", "C:\\net.onnx", "weights/../../net.onnx"])
def test_a_path_out_of_the_folder_is_refused(outside: str, saved: Path) -> None:
    def listed(content: dict[str, Any]) -> None:
        content["files"][outside] = {"bytes": 1, "sha256": ""}

    with pytest.raises(ContractError, match="leads out of the folder"):
        Calibrator.load(changed(saved, listed))


def test_a_link_out_of_the_folder_is_refused(saved: Path) -> None:
    path = saved / "weights" / "head" / "weights" / "head.onnx"
    path.rename(saved.parent / "outside.onnx")
    path.symlink_to(saved.parent / "outside.onnx")
    with pytest.raises(ContractError, match="leads out of the folder"):
        Calibrator.load(saved)


@pytest.mark.parametrize("value", ["/tmp/other.onnx", "~/other.onnx", "other.onnx", "a/../b", "\\\\host\\net", "C:x"])
def test_an_option_that_names_another_file_is_refused(value: str, saved: Path) -> None:
    def pointed(content: dict[str, Any]) -> None:
        content["own_files"] = [entry for entry in content["own_files"] if entry["stage"] != "foundation"]
        content["config"]["foundation"]["options"]["path"] = value

    with pytest.raises(ContractError, match="names a file that is not in the folder"):
        Calibrator.load(changed(saved, pointed))


def test_a_file_without_a_checksum_is_refused(saved: Path) -> None:
    def unlisted(content: dict[str, Any]) -> None:
        content["files"] = {}

    with pytest.raises(ContractError, match="not among the files with a checksum"):
        Calibrator.load(changed(saved, unlisted))


def test_a_pickle_with_a_checksum_is_refused_too(saved: Path) -> None:
    below = "weights/head/weights/head.ckpt"
    (saved / below).write_bytes(b"code")
    digest = hashlib.sha256(b"code").hexdigest()

    def listed(content: dict[str, Any]) -> None:
        content["files"][below] = {"bytes": 4, "sha256": digest}
        content["own_files"][-1]["path"] = below

    with pytest.raises(ContractError, match=r"head\.ckpt' is no file that save writes; it may run code"):
        Calibrator.load(changed(saved, listed))


@pytest.mark.parametrize("added", ["pytorch_model.bin", "unet/config.json"])
def test_a_file_added_to_a_models_folder_is_refused(added: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    (model / "unet").mkdir(parents=True)
    (model / "config.json").write_text('{"model_type": "depth_anything"}')
    (model / "model.safetensors").write_bytes(b"0")
    folder = tmp_path / "saved"
    save(folder, {**Calibrator("cfa_ols").config(), "foundation": {"name": "hf", "options": {"model": str(model)}}})
    (folder / "notes.txt").touch()
    assert load_saved(folder)["foundation"]["options"]["model"] == str(folder / "weights" / "foundation" / "model")
    path = folder / "weights" / "foundation" / "model" / added
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(ContractError, match=f"foundation/model/{added} is not among the files with a checksum"):
        load_saved(folder)


def test_of_another_model_saved_there_before_nothing_is_left(tmp_path: Path) -> None:
    config = Calibrator("cfa_ols").config()
    for name, files in (("a", ("config.json", "model.safetensors", "extra.json")), ("b", ("config.json", "w.onnx"))):
        model = tmp_path / name
        model.mkdir()
        for file in files:
            (model / file).write_text(f'"{name}"')
        save(tmp_path / "saved", {**config, "foundation": {"name": "hf", "options": {"model": str(model)}}})
        kept = Path(load_saved(tmp_path / "saved")["foundation"]["options"]["model"])
        assert sorted(path.name for path in kept.iterdir()) == sorted(files)
    assert (tmp_path / "a" / "extra.json").exists()
    again = {**config, "foundation": {"name": "hf", "options": {"model": str(kept)}}}
    save(tmp_path / "saved", again)
    assert sorted(path.name for path in kept.iterdir()) == ["config.json", "w.onnx"], "where it was loaded from"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2; this version reads format 1. Upgrade"),
        ({"mrac": "999.0"}, "was saved by mrac 999.0, this is "),
        ({"mrac": 3}, "version 3 of mrac"),
        ({"files": []}, "files: a dict is needed"),
        ({"own_files": [7]}, "7 is no stage, option and path"),
        ({"config": {"method": "default"}}, "foundation: a name and a table of options are needed"),
        ({"config": {"cache": {"folder": "/tmp/x"}}}, "no entry 'cache' belongs in a saved configuration"),
    ],
)
def test_a_broken_manifest_is_refused(change: dict[str, Any], message: str, saved: Path) -> None:
    with pytest.raises(ContractError, match=message):
        Calibrator.load(changed(saved, lambda content: content.update(change)))


@pytest.mark.parametrize("text", ["", "[1]", "{", "[" * 100_000])
def test_a_manifest_that_is_no_table_is_refused(text: str, saved: Path) -> None:
    (saved / "calibrator.json").write_text(text, encoding="utf-8")
    with pytest.raises(ContractError, match=r"calibrator\.json(: not readable as JSON|: cannot be read| holds a list)"):
        Calibrator.load(saved)


def test_what_is_no_saved_calibrator_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"has no calibrator\.json; a folder of Calibrator.save"):
        Calibrator.load(tmp_path)
    with pytest.raises(ContractError, match=r"is no folder; a folder of Calibrator.save, or a name of `mrac list"):
        Calibrator.load("defualt")


def test_what_must_not_be_copied_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ContractError, match="is a file; a folder is to be written there"):
        Calibrator().save(tmp_path / "file")
    (tmp_path / "a.ckpt").touch()
    with pytest.raises(ContractError, match=r"a\.ckpt may run code where it is read"):
        Calibrator("cfa_ols", head=f"sml:weights={tmp_path / 'a.ckpt'}").save(tmp_path / "saved")
    with pytest.raises(ContractError, match=r"no file .*none\.onnx; what is saved must be there"):
        Calibrator(foundation=f"onnx:{tmp_path / 'none.onnx'}").save(tmp_path / "saved")
    path = tmp_path / "split.onnx"
    constants = {"w": np.ones((1, 3, 1, 1), np.float32)}
    shapes = ({"x": (1, 3, 16, 16)}, {"y": (1, 3, 16, 16)})
    write_onnx(path, [Node("Mul", ["x", "w"], "y")], *shapes, constants, constants_file="split.data")
    with pytest.raises(ContractError, match=r"split\.onnx keeps weights .* in another file"):
        Calibrator(foundation=f"onnx:{path}").save(tmp_path / "saved")
    assert not (tmp_path / "saved" / "calibrator.json").exists()
