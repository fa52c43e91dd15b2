"""Datasets, converted once to the house conventions. One file per layout."""

from pathlib import Path

from mrac import registry
from mrac.errors import ContractError
from mrac.lab.data.base import Dataset, Rules, Sample

__all__ = ["Dataset", "Rules", "Sample", "datasets_in"]


def datasets_in(folder: Path, name: str = "") -> list[Dataset]:
    """Every set that a folder holds, with its default protocol.

    Args:
        folder: laid out as `mrac data list` says.
        name: of the data set, where it is known; else all known layouts are looked for.

    Raises:
        ContractError: it holds none of them.
    """
    kinds: list[type[Dataset]] = [registry.load("dataset", kind) for kind in ([name] if name else _kinds(folder))]
    return [one for kind in kinds for one in kind.sets_in(folder)]


def _kinds(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise ContractError(f"datasets: {folder} is no folder; one that is laid out as `mrac data list` says is needed")
    found = [kind for kind in registry.names("dataset") if registry.load("dataset", kind).is_in(folder)]
    if not found:
        raise ContractError(
            f"datasets: {folder} holds none of {', '.join(registry.names('dataset'))}; `mrac data list` shows where "
            "to get them and how to lay them out"
        )
    return found
