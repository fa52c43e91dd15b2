"""Locates a model's folder on this machine or in the Hugging Face cache; never reads pickled weights."""

import hashlib
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.io.files import user_path
from mrac.io.input_file import read_json

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_CONTENT_HASH = re.compile(r"[0-9a-f]{64}")
_PICKLED = (".bin", ".pth", ".pt", ".ckpt", ".pkl")
_PROBE_S = 3.0


@dataclass(frozen=True)
class Checkpoint:
    """A folder with a model in it.

    Attributes:
        folder: its path.
        name: as the user wrote it: a hub id or a path.
    """

    folder: Path
    name: str

    def read_json(self, file: str, where: str) -> dict[str, Any]:
        """The contents of a JSON file of the folder; empty if there is none.

        Raises:
            ContractError: it is not a JSON object.
        """
        path = self.folder / file
        if not path.exists():
            return {}
        content = read_json(path, where)
        if not isinstance(content, dict):
            raise ContractError(f"{where}: {path} holds a {type(content).__name__}; a JSON object is needed")
        return content

    @property
    def fingerprint(self) -> str:
        """A digest of the model's settings and of the identity of its weights, without reading the weights.

        A file in the hub's cache is named by the hash of its content; any other enters by size and time of change.
        """
        digest = hashlib.sha256()
        # A model's files lie in its folder or one below; a wrong folder may be a whole disk.
        for path in sorted((*self.folder.glob("*"), *self.folder.glob("*/*"))):
            if path.suffix not in (".json", ".safetensors", ".pt") or not path.is_file():
                continue
            digest.update(os.fsencode(path.relative_to(self.folder).as_posix()))
            if path.suffix == ".json":
                digest.update(path.read_bytes())
            else:
                digest.update(file_identity(path).encode())
        return digest.hexdigest()[:16]


def file_identity(path: Path) -> str:
    """The hash of a file's content where the hub's cache names it so, else its size and the time of its change."""
    blob = path.resolve()
    if _CONTENT_HASH.fullmatch(blob.name):
        return blob.name
    stat = blob.stat()
    return f"{stat.st_size} {stat.st_mtime_ns}"


def locate(
    model: str, where: str, *, patterns: tuple[str, ...] = (), download: bool = False, extra: str = "torch"
) -> Checkpoint:
    """The folder of `model`, a local folder or a hub id whose files are in the Hugging Face cache.

    Args:
        model: a path or an id such as `depth-anything/Depth-Anything-V2-Small-hf`.
        where: start of the error message.
        patterns: which files of a hub repository are needed, as globs; all if empty.
        download: fetch what is not in the cache. Off by default: it is gigabytes, under a licence of its own.
        extra: the extra of this package that installs the hub's client and all else that this model needs.

    Raises:
        ContractError: it is not there, or could not be fetched; the message names the command that fetches it.
        MissingExtra: the hub's client is not installed.
    """
    folder = user_path(model)
    if folder.is_dir():
        return Checkpoint(folder, model)
    if folder.exists() or not _HUB_ID.fullmatch(model):
        needed = "a model's folder or a Hugging Face id such as depth-anything/Depth-Anything-V2-Small-hf"
        raise ContractError(f"{where}: {model!r} is not a folder; {needed} is needed")
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415  (part of the extra)
        from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(where, extra) from None
    wanted = list(patterns) or None
    try:
        return Checkpoint(Path(snapshot_download(model, allow_patterns=wanted, local_files_only=True)), model)
    except LocalEntryNotFoundError:
        if download:
            return Checkpoint(_fetched(model, wanted, where), model)
        raise ContractError(
            f"{where}: {model} is neither a folder nor in the Hugging Face cache. {_fetch(model, patterns)}"
        ) from None


def _fetch(model: str, patterns: tuple[str, ...]) -> str:
    chosen = "".join(f' --include "{pattern}"' for pattern in patterns)
    return f"Fetch it with: hf download {model}{chosen}"


def _fetched(model: str, wanted: list[str] | None, where: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (as above)

    try:
        probe_hub()
        return Path(snapshot_download(model, allow_patterns=wanted))
    except Exception as error:  # the client and the network below it raise classes of many families
        raise ContractError(
            f"{where}: {model} could not be downloaded ({first_line(error)}). {_fetch(model, tuple(wanted or ()))}"
        ) from None


def probe_hub() -> None:
    """Raises `OSError` at once if the hub cannot be reached: its client retries for half a minute first."""
    from huggingface_hub import constants  # noqa: PLC0415  (as above)

    proxied = any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"))
    address = urlsplit(constants.ENDPOINT)
    if not proxied:
        port = address.port or (80 if address.scheme == "http" else 443)
        socket.create_connection((address.hostname or "", port), timeout=_PROBE_S).close()


def check_safetensors(checkpoint: Checkpoint, where: str, under: str = "") -> None:
    """Raises `ContractError` unless the weights are .safetensors, which hold numbers and cannot run code."""
    folder = checkpoint.folder / under
    files = sorted(path.name for path in folder.glob("*")) if folder.is_dir() else []
    if any(name.endswith(".safetensors") for name in files):
        return
    pickled = [name for name in files if name.endswith(_PICKLED)]
    if pickled:
        raise ContractError(
            f"{where}: {folder} holds {pickled[0]}, a pickle that may run code when read, and no .safetensors. "
            "Convert it: model.save_pretrained(FOLDER, safe_serialization=True)"
        )
    advice = "" if checkpoint.folder == user_path(checkpoint.name) else f". {_fetch(checkpoint.name, ())}"
    raise ContractError(f"{where}: {folder} holds no .safetensors{advice}")
