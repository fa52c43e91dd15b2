"""One published file of weights: where it is looked for on this machine, and what to do where it is not."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.runtime.cache.location import user_cache


@dataclass(frozen=True)
class PublishedFile:
    """A file of a Hugging Face repository that runs without the hub's client.

    Attributes:
        name: what users type after `mrac fetch`; also the name of its folder among this package's files.
        repository: its id on the hub.
        file: the weights.
    """

    name: str
    repository: str
    file: str

    @property
    def address(self) -> str:
        """Where a browser gets it."""
        return f"https://huggingface.co/{self.repository}/resolve/main/{self.file}"

    def own_place(self) -> Path | None:
        """Where `mrac fetch` or a copy by hand puts it; None where there is no home folder."""
        try:
            return user_cache() / "mrac" / self.name / self.file
        except RuntimeError:
            return None

    def find(self) -> Path | None:
        """The file on this machine: in this package's own place, or else in the Hugging Face cache."""
        own = self.own_place()
        return own if own is not None and own.is_file() else cached_file(self.repository, self.file)

    def located(self, where: str) -> Path:
        """`find`, or an error that says how to get it.

        Raises:
            ContractError: it is not on this machine.
        """
        found = self.find()
        if found is None:
            raise ContractError(f"{where}: its weights are not on this machine. {self.advice()}")
        return found

    def advice(self) -> str:
        """How to get the file, with and without a network."""
        return f"Fetch them with: mrac fetch {self.name}. {self.by_hand()}"

    def by_hand(self) -> str:
        """How to get the file without a network."""
        own = self.own_place()
        place = "anywhere" if own is None else f"to {own}"
        return f"Without a network: copy {self.address} {place}, or name your copy: {self.name}:path=FILE"


DAV2_SMALL: Final = PublishedFile("dav2-small", "depth-anything/Depth-Anything-V2-Small-hf", "model.safetensors")
FETCHABLE: Final = {one.name: one for one in (DAV2_SMALL,)}


def cached_file(repository: str, file: str) -> Path | None:
    """A file of a repository's main branch in the Hugging Face cache, as its client lays it out; None if absent."""
    home = hub_cache()
    if home is None:
        return None
    model = home / f"models--{repository.replace('/', '--')}"
    try:
        commit = (model / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    path = model / "snapshots" / commit / file
    return path if commit and path.is_file() else None


def hub_cache() -> Path | None:
    """The Hugging Face cache by the rules of its client, which need not be installed; None without a home folder."""
    for variable, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if named := os.environ.get(variable):
            return user_path(os.path.expandvars(named)) / below
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return user_path(str(cache)) / "huggingface" / "hub"
