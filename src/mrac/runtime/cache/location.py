"""Location of the prediction cache: as the environment sets it, else the system's cache folder."""

import os
import sys
from pathlib import Path
from typing import Final

from mrac.errors import ContractError
from mrac.runtime.cache.store import DEFAULT_MAX_BYTES, PredictionCache

FOLDER_VARIABLE: Final = "MRAC_CACHE"  # a folder, or `off`
SIZE_VARIABLE: Final = "MRAC_CACHE_GIB"  # its maximal size


def default_store() -> PredictionCache | None:
    """The user's cache, or None if `MRAC_CACHE` is `off`. Nothing is created or read yet.

    Raises:
        ContractError: `MRAC_CACHE` names the home of an unknown user, or `MRAC_CACHE_GIB` is not a number >= 0.
    """
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    if named.lower() == "off":
        return None
    try:
        folder = Path(named).expanduser() if named else user_cache() / "mrac" / "predictions"
    except RuntimeError:
        raise ContractError(f"{FOLDER_VARIABLE}: no home for {named or '~'}; a folder or `off` is needed") from None
    return PredictionCache(folder, _max_bytes())


def _max_bytes() -> int:
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_MAX_BYTES
    try:
        gib = float(text)
    except ValueError:
        gib = -1.0
    if not 0.0 <= gib <= 1e6:
        raise ContractError(f"{SIZE_VARIABLE}: {text!r} arrived; a number of GiB from 0 to 1000000 is needed")
    return int(gib * (1 << 30))


def user_cache() -> Path:
    """The system's folder for cached files of the user.

    Raises:
        RuntimeError: there is no home.
    """
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules: a path that is not absolute is ignored.
    return Path(named) if named and Path(named).is_absolute() else Path.home() / ".cache"
