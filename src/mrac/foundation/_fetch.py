"""Downloads a published file of weights: progress bar, resumed by the next run where one was cut off, checksum."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrac.errors import ContractError, MissingExtra, first_line
from mrac.foundation._checkpoint import probe_hub
from mrac.foundation._published_file import PublishedFile
from mrac.io.files import sha256_of, write_whole

_WHERE: Final = "fetch"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Fetched:
    """A file of weights on this machine.

    Attributes:
        path: of the file.
        downloaded: whether it came just now.
        sha256: of its content, equal to what the hub states; empty where the hub's statement is not at hand.
    """

    path: Path
    downloaded: bool
    sha256: str


def fetch(published: PublishedFile) -> Fetched:
    """The file, downloaded by the hub's own client if it is not on this machine yet.

    The client shows a progress bar in a terminal. What has arrived is kept under another name until all of it is
    there and has the checksum that the hub states, so a run that is cut off leaves nothing that looks like weights.

    Raises:
        ContractError: it could not be downloaded, or its content is not what the hub states; one line that says what
            to do without a network. A damaged file is deleted.
        MissingExtra: the hub's client is not installed.
    """
    found = published.find()
    if found is not None:
        return Fetched(found, downloaded=False, sha256=_checked(found, _stated(found)))
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra(f"{_WHERE}: {published.name}", "fetch") from None
    path = published.own_place()
    if path is None:
        raise ContractError(f"{_WHERE}: there is no home folder; XDG_CACHE_HOME=FOLDER is needed")
    try:
        probe_hub()
        url = hf_hub_url(published.repository, published.file)
        stated = get_hf_file_metadata(url)
        part = _download(url, path, stated.etag or "", stated.size)
    except Exception as error:  # the client and the network below it raise classes of many families
        raise ContractError(
            f"{_WHERE}: {published.name} could not be downloaded ({first_line(error)}). {published.by_hand()}"
        ) from None
    sha256 = _checked(part, stated.etag or "")
    part.replace(path)
    if sha256:  # in the form that `sha256sum -c` reads
        write_whole(_statement(path), lambda file: file.write(f"{sha256}  {path.name}\n".encode()))
    return Fetched(path, downloaded=True, sha256=sha256)


def _download(url: str, path: Path, etag: str, size: int | None) -> Path:
    """The whole file beside `path` under the name of its version, continued where an earlier run was cut off."""
    from huggingface_hub.file_download import http_get  # noqa: PLC0415  (as above)
    from huggingface_hub.utils import build_hf_headers  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    version = re.sub(r"\W", "", etag)[:16]
    part = path.with_name(f".{path.name}.{version}.part")
    part.touch()
    with part.open("r+b") as file:
        here = file.seek(0, os.SEEK_END) if version else 0
        if size is not None and here > size:
            here = 0
        file.seek(here)
        file.truncate()
        http_get(
            url,
            file,
            resume_size=here,
            headers=build_hf_headers(),
            expected_size=size,
            displayed_filename=path.name,
        )
        file.flush()
        os.fsync(file.fileno())
    return part


def _statement(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _stated(path: Path) -> str:
    """The hash of a file as the hub stated it: the name in the hub's cache, or what an earlier `fetch` wrote."""
    try:
        return _statement(path).read_text(encoding="utf-8")[:64]
    except (OSError, ValueError):
        return path.resolve().name


def _checked(path: Path, stated: str) -> str:
    """The file's SHA-256; empty if the hub states none."""
    if not _SHA256.fullmatch(stated):
        return ""
    arrived = sha256_of(path)
    if arrived != stated:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise ContractError(
            f"{_WHERE}: {path} is damaged and was deleted: its SHA-256 is {arrived}, the hub states {stated}. Run the "
            "same command again"
        )
    return arrived
