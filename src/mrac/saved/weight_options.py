"""Which options of a stage name files of the user's, and which names a saved folder may hold."""

from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.runtime.onnx_check import check_onnx

# What may be copied: these hold numbers and text. Reading a pickle may run code, so none goes into a folder that is
# meant for others.
_SUFFIXES: Final = (".onnx", ".npz", ".npy", ".png", ".safetensors", ".json")
_FOLDERS: Final = ("path", "model")  # options that also take a model's folder
_PICKLED: Final = (".ckpt", ".pt", ".pth", ".bin", ".pkl", ".pickle")


def user_files(stage: str, options: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """The options of a stage whose value names a file or a folder on this machine, and its path.

    The package's own weights have bare names (`vanilla`), a model of a hub an id: neither is a file here.
    """
    for option, value in options.items():
        if isinstance(value, str) and value and _is_path(option, value):
            path = user_path(value)
            if not path.exists():
                raise ContractError(f"save: {stage}: {option}: no file {path}; what is saved must be there")
            yield option, path


def names_a_path(option: str, value: object) -> bool:
    """Whether a saved option that is none of the folder's own files points to a place of the machine."""
    if not isinstance(value, str) or not value:
        return False
    windows = PureWindowsPath(value)
    leaves = Path(value).is_absolute() or bool(windows.drive or windows.root) or value.startswith("~")
    return leaves or ".." in windows.parts or _is_path(option, value)


def _is_path(option: str, value: str) -> bool:
    """A value with the suffix of weights, or the name of a model's folder on this machine."""
    path = user_path(value)
    if path.suffix.lower() in (*_SUFFIXES, *_PICKLED):
        return True
    # A bare name of `weights` is one of the package's, whatever lies in the working folder.
    return (option in _FOLDERS or (len(path.parts) > 1 and option != "weights")) and path.exists()


def may_be_saved(path: Path) -> bool:
    """Whether a file is of a kind that `save` copies: numbers and text, no pickle."""
    return path.suffix.lower() in _SUFFIXES


def may_be_read(path: Path) -> bool:
    """Whether whoever is given a model's folder may take a file in it for settings or weights."""
    return path.suffix.lower() in (*_SUFFIXES, *_PICKLED)


def files_of(path: Path, where: str) -> list[tuple[Path, str]]:
    """What is to be copied for an option, and each file's name below the option's own folder.

    Of a network that is one file, its card or settings (the same name, .json) go along; of a model's folder, the
    settings and weights in it and one level below.

    Raises:
        ContractError: the weights are a pickle, or the network's file is not one that is read (`check_onnx`).
    """
    if path.is_dir():
        inside = sorted(one for one in (*path.glob("*"), *path.glob("*/*")) if may_be_saved(one))
        if not inside:
            raise ContractError(f"{where}: {path} holds no {', '.join(_SUFFIXES)} file: nothing to save")
        return [(one, one.relative_to(path).as_posix()) for one in inside if one.is_file()]
    if not may_be_saved(path):
        raise ContractError(
            f"{where}: {path.name} may run code where it is read; only {', '.join(_SUFFIXES)} are saved. Convert it "
            "to .onnx or .safetensors first"
        )
    if path.suffix.lower() == ".onnx":
        check_onnx(path, where)
    card = path.with_suffix(".json")
    beside = [card] if card != path and card.is_file() else []
    return [(one, one.name) for one in (path, *beside)]
