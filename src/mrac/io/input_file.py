"""Files that a user names: each is looked at before it is opened, and every failure names it.

A pipe would block for ever, a device never ends, and what is larger than its limit would fill the memory.
"""

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError, shown
from mrac.limits import DESCRIPTION_BYTES, FILE_BYTES, TEXT_BYTES

_MAX_DIGITS: Final = 300  # a float has no more than 309 before the point
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def as_path(path: object, call: str) -> Path:
    """The path that an argument is.

    Args:
        path: what arrived.
        call: the right call, for the message: `read_image("image.png")`.

    Raises:
        ContractError: it is neither text nor a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ContractError(f"{call}: a path is needed; {shown(path)} arrived")
    return Path(path)


def resolved(path: Path) -> Path:
    """The path without links.

    Raises:
        ContractError: a link in it leads to itself.
    """
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:  # the first up to Python 3.12
        raise ContractError(f"{path}: cannot be used ({_reason(error)})") from None


def check_file(path: Path, where: str = "", max_bytes: int = FILE_BYTES) -> int:
    """The size of a file that can be read.

    Args:
        path: of the file.
        where: begins the message; the path follows.
        max_bytes: the largest size permitted.

    Raises:
        ContractError: it is missing, no plain file (a folder, a pipe, a device), unreadable or too large.
    """
    name = _named(path, where)
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ContractError(f"{name}: no such file") from None
    except (OSError, ValueError) as error:  # a link that leads to itself, a name too long, or with a zero in it
        raise ContractError(f"{name}: cannot be read ({_reason(error)})") from None
    if not stat.S_ISREG(state.st_mode):
        kind = next((words for test, words in _KINDS if test(state.st_mode)), "no plain file")
        raise ContractError(f"{name}: is {kind}; a file is needed")
    if state.st_size > max_bytes:
        raise ContractError(
            f"{name}: {state.st_size / 1e6:,.0f} MB arrived; such files are read up to {max_bytes / 1e6:,.0f} MB"
        )
    if not os.access(path, os.R_OK):
        raise ContractError(f"{name}: cannot be read (permission denied)")
    return state.st_size


def inside(folder: Path, name: str, where: str) -> Path:
    """The path of a file that a manifest, an archive or a table names, which must lie in the same folder or below.

    Links in the folder may lead elsewhere: they are of whoever made the folder, not of whoever wrote the name.

    Raises:
        ContractError: the name leads out of the folder.
    """
    path = os.path.normpath(folder / name)
    # Not `resolve`, which follows links; an absolute name may well lie in the folder.
    if "\0" in name or not Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder)):  # noqa: PTH100
        raise ContractError(f"{where}: names {name!r}, outside its folder {folder}; files beside it or below are read")
    return Path(path)


def read_bytes(path: Path, where: str = "", max_bytes: int = FILE_BYTES) -> bytes:
    """The content of a file; see `check_file`."""
    check_file(path, where, max_bytes)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ContractError(f"{_named(path, where)}: cannot be read ({_reason(error)})") from None


def read_text(path: Path, where: str = "", max_bytes: int = TEXT_BYTES) -> str:
    """A text file in UTF-8, or UTF-16 by its byte order mark, as spreadsheets of some systems write it.

    Raises:
        ContractError: it cannot be read (`check_file`), or is no such text.
    """
    content = read_bytes(path, where, max_bytes)
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(
            f"{_named(path, where)}: cannot be read as text in UTF-8 (byte {error.start}: {error.reason})"
        ) from None


def read_json(path: Path, where: str = "") -> Any:
    """The content of a JSON file.

    Raises:
        ContractError: it cannot be read (`check_file`), or is not JSON.
    """
    text = read_text(path, where, DESCRIPTION_BYTES)
    return parse_json(text, _named(path, where))


def parse_json(text: str | bytes, where: str) -> Any:
    """The values of a JSON text.

    Raises:
        ContractError: it is not JSON, nested too deeply, or has a number that no float holds.
    """
    try:
        return json.loads(text, parse_int=_whole_number)
    except ValueError as error:
        raise ContractError(f"{where}: not readable as JSON ({error})") from None
    except RecursionError:
        raise ContractError(f"{where}: not readable as JSON (nested too deeply)") from None


def _whole_number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def read_toml(path: Path, where: str = "") -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        ContractError: it cannot be read (`check_file`), or is not TOML.
    """
    text = read_text(path, where, DESCRIPTION_BYTES)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ContractError(f"{_named(path, where)}: not TOML ({error})") from None
    except RecursionError:
        raise ContractError(f"{_named(path, where)}: not usable TOML (nested too deeply)") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _named(path: Path, where: str) -> str:
    return f"{where}: {path}" if where else str(path)
