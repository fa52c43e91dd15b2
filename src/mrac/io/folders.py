"""Folders that several processes may write to: locks, and results that appear in them whole.

The lock is the system's, on the folder itself: it leaves no file behind, and a killed process keeps nobody out.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mrac.errors import ContractError

PART: Final = ".mrac-part-"  # begins the name of a folder whose content is not complete yet
_STEP_S: Final = 0.02


@contextmanager
def locked_folder(folder: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Keeps other processes that ask likewise from writing to the folder, which is made if missing.

    Args:
        folder: of the results.
        wait_s: seconds to wait for another one.

    Raises:
        ContractError: another process is at work there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = _try_lock(folder)
    end = time.monotonic() + wait_s
    while handle is None:
        if time.monotonic() >= end:
            raise ContractError(
                f"{folder}: another process is at work in this folder; wait for it, stop it or choose another folder"
            )
        time.sleep(_STEP_S)
        handle = _try_lock(folder)
    try:
        yield
    finally:
        _unlock(handle)


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A new folder inside `folder` to write to, removed at the end; what killed processes left of theirs goes too."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_parts(folder)
    part = folder / f"{PART}{secrets.token_hex(4)}"
    part.mkdir()
    handle = _try_lock(part)
    try:
        yield part
    except OSError as error:  # as of a full disk: the name that the file was to have tells more
        if error.filename is None or Path(str(error.filename)).parent != part:
            raise
        raise OSError(error.errno, error.strerror, str(folder / Path(str(error.filename)).name)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _unlock(handle)


def remove_parts(folder: Path) -> None:
    """Removes the unfinished folders of killed processes; those that another one is writing to stay."""
    for part in folder.glob(f"{PART}*"):
        handle = _try_lock(part)
        if handle is not None:
            shutil.rmtree(part, ignore_errors=True)
            _unlock(handle)


def try_lock(handle: int) -> bool:
    """Locks an open file or folder until it is closed; False if another process has it locked.

    True as well where there are no such locks: on Windows, and on some file systems of a network.
    """
    try:
        import fcntl  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _try_lock(folder: Path) -> int | None:
    """A handle of the locked folder, None if another process has it; -1 on Windows, where no folder can be opened."""
    if os.name == "nt":
        return -1
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:  # its owner was faster
        return None
    if not try_lock(handle):
        os.close(handle)
        return None
    return handle


def _unlock(handle: int | None) -> None:
    if handle is not None and handle >= 0:
        os.close(handle)
