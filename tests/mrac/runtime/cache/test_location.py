import sys
from pathlib import Path

import pytest

from mrac import ContractError
from mrac.runtime.cache import default_store
from mrac.runtime.cache.store import DEFAULT_MAX_BYTES


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("MRAC_CACHE", "MRAC_CACHE_GIB", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


def folder() -> Path:
    store = default_store()
    assert store is not None
    return store.folder


@pytest.mark.parametrize(
    ("platform", "where"),
    [("linux", ".cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")],
)
def test_each_system_s_own_place(platform: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert folder() == tmp_path / where / "mrac" / "predictions"
    assert not (tmp_path / where).exists(), "asking makes nothing"


def test_the_environment_says_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder() == tmp_path / "xdg" / "mrac" / "predictions"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert folder() == tmp_path / ".cache" / "mrac" / "predictions"
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "own"))
    assert folder() == tmp_path / "own"
    for off in ("off", "OFF", " off "):
        monkeypatch.setenv("MRAC_CACHE", off)
        assert default_store() is None


def test_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    store = default_store()
    assert store is not None
    assert store.max_bytes == DEFAULT_MAX_BYTES
    monkeypatch.setenv("MRAC_CACHE_GIB", "0.5")
    store = default_store()
    assert store is not None
    assert store.max_bytes == 1 << 29


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_a_bound_that_is_none_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRAC_CACHE_GIB", text)
    with pytest.raises(ContractError, match=f"MRAC_CACHE_GIB: '{text}' arrived"):
        default_store()


def test_the_home_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRAC_CACHE", "~nobody-at-all/cache")
    with pytest.raises(ContractError, match="MRAC_CACHE: no home for ~nobody-at-all/cache"):
        default_store()
