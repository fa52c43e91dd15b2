"""What `fetch` does without the hub's client; the rest runs against a hub in tests/e2e/test_cli_fetch.py."""

import hashlib
import sys
from pathlib import Path

import pytest

from mrac import ContractError, MissingExtra
from mrac.foundation._fetch import fetch
from mrac.foundation._published_file import DAV2_SMALL


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file belongs, on a machine without the client and with an empty cache."""
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    return tmp_path / "mrac" / "dav2-small" / "model.safetensors"


def test_without_the_client_the_extra_is_named(own: Path) -> None:
    with pytest.raises(MissingExtra, match=r"fetch: dav2-small: .*mrac-depth\[fetch\]"):
        fetch(DAV2_SMALL)
    assert not own.parent.exists()


def test_a_copy_by_hand_needs_no_client(own: Path) -> None:
    own.parent.mkdir(parents=True)
    own.write_bytes(b"weights")
    found = fetch(DAV2_SMALL)
    assert (found.path, found.downloaded, found.sha256) == (own, False, "")
    sha256 = hashlib.sha256(b"weights").hexdigest()
    own.with_name("model.safetensors.sha256").write_text(f"{sha256}  model.safetensors\n")
    assert fetch(DAV2_SMALL).sha256 == sha256
    own.write_bytes(b"wrong")
    with pytest.raises(ContractError, match="is damaged and was deleted"):
        fetch(DAV2_SMALL)
    assert not own.exists()
