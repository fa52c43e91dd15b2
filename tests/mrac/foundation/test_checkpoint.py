import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from mrac import ContractError, MissingExtra
from mrac.foundation._checkpoint import Checkpoint, locate


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    from huggingface_hub import constants  # noqa: PLC0415

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.mark.lab
def test_what_is_nowhere_is_one_line_with_the_command(hub: Path) -> None:
    with pytest.raises(ContractError) as caught:
        locate("someone/some-network", "here", patterns=("*.json",))
    assert str(caught.value) == (
        "here: someone/some-network is neither a folder nor in the Hugging Face cache. "
        'Fetch it with: hf download someone/some-network --include "*.json"'
    )


@pytest.mark.parametrize("model", ["", "nowhere", "/no/such/folder", "a/b/c", "file.txt", "~nobody-at-all/model"])
def test_what_is_no_id_is_named(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("")
    if model == "":  # the empty path is the current folder
        assert locate(model, "here").folder == Path()
        return
    with pytest.raises(ContractError, match="is not a folder"):
        locate(model, "here")


@pytest.mark.lab
def test_the_hub_s_cache_is_found(hub: Path) -> None:
    home = hub / "models--someone--some-network"
    snapshot = home / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("0" * 40)
    assert locate("someone/some-network", "here").folder.resolve() == snapshot.resolve()


@pytest.mark.lab
def test_a_download_without_a_network_fails_at_once(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(ContractError, match=r"not be downloaded .*Name or service.*hf download someone/some-network"):
        locate("someone/some-network", "here", download=True)


def test_without_the_hub_s_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[torch\]"):
        locate("someone/some-network", "here")


def test_fingerprints_follow_the_content(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"12345678")
    one = Checkpoint(tmp_path, "a").fingerprint
    (tmp_path / "README.md").write_text("a note changes nothing")
    assert Checkpoint(tmp_path, "b").fingerprint == one
    (tmp_path / "model.safetensors").write_bytes(b"123456789")
    two = Checkpoint(tmp_path, "a").fingerprint
    (tmp_path / "config.json").write_text("{ }")
    assert len({one, two, Checkpoint(tmp_path, "a").fingerprint}) == 3


def test_in_the_hub_s_cache_the_name_of_the_blob_is_the_content(tmp_path: Path) -> None:
    for blob in ("a" * 64, "b" * 64):
        (tmp_path / blob).write_bytes(b"same size")
    prints = []
    for folder, blob in (("one", "a" * 64), ("two", "a" * 64), ("three", "b" * 64)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.safetensors").symlink_to(tmp_path / blob)
        prints.append(Checkpoint(tmp_path / folder, "x").fingerprint)
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_folder_that_is_no_model_s_is_not_searched_through(tmp_path: Path) -> None:
    """`hf:/` once walked the whole disk, and stumbled over names that are no UTF-8."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / os.fsdecode(b"\xff.json")).write_text("{}")
    before = Checkpoint(tmp_path, "a").fingerprint
    deep = tmp_path / "some" / "where" / "else"
    deep.mkdir(parents=True)
    (deep / "notes.json").write_text("{}")
    assert Checkpoint(tmp_path, "a").fingerprint == before
    (tmp_path / "some" / "model.safetensors").write_bytes(b"as diffusers lays them out")
    assert Checkpoint(tmp_path, "a").fingerprint != before
