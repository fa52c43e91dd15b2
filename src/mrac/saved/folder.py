"""Writes a calibrator to a folder and reads it back: nothing in it is run, and no path in it leaves the folder.

    calibrator.json     format, version, configuration, and every file with its size and SHA-256; written last
    weights/            copies of the user's own files: weights/STAGE/OPTION/NAME
    README.md           a model card to complete: stages, licences

Weights of the package are not copied: the configuration names them, and they are those of the installed version.
"""

import logging
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from mrac.config import KEYS
from mrac.errors import ContractError
from mrac.io.files import sha256_of, write_json, write_whole
from mrac.io.input_file import read_json
from mrac.registry import STAGES
from mrac.runtime.onnx_check import check_onnx
from mrac.saved.card import model_card
from mrac.saved.weight_options import files_of, may_be_read, may_be_saved, names_a_path, user_files
from mrac.version import __version__

MANIFEST: Final = "calibrator.json"
_FORMAT: Final = 1
_LOG: Final = logging.getLogger("mrac.saved")


def save(folder: Path, config: Mapping[str, Any]) -> Path:
    """Writes the folder of a configuration.

    Args:
        folder: created if missing; files of the same names are replaced, each whole or not at all, and those of a
            model's folder that was saved there before are removed.
        config: of `Calibrator.config`. Its cache is left out: where one keeps predictions is a matter of the machine.

    Returns:
        The folder.

    Raises:
        ContractError: a file of the configuration is missing, or must not be copied (`weight_options.files_of`), or
            there is a file in the folder's place.
    """
    if folder.exists() and not folder.is_dir():
        raise ContractError(f"save: {folder} is a file; a folder is to be written there")
    kept = {key: value for key, value in config.items() if key != "cache"}
    copies, entries = [], []
    for stage in STAGES:
        options = dict(kept[stage]["options"])
        for option, path in user_files(stage, options):
            below = PurePosixPath("weights", stage, option)
            found = files_of(path, f"save: {stage}: {option}")
            options[option] = str(below if path.is_dir() else below / path.name)
            entries += [{"stage": stage, "option": option, "path": options[option]}]
            copies += [(source, below / name) for source, name in found]
        kept[stage] = {**kept[stage], "options": options}
    manifest = folder / MANIFEST
    listed = {str(name): _describe(source) for source, name in copies}
    manifest.unlink(missing_ok=True)  # an older one would call complete what is about to change
    for source, name in copies:
        _copy(source, folder / name)
    for entry in entries:
        for left in _unlisted(folder / entry["path"], folder, list(listed)):  # of a model that was saved here before
            if _below(left, folder):  # a link may lead to files of the user's
                left.unlink()
    card = model_card(kept, list(listed))
    write_whole(folder / "README.md", lambda file: file.write(card.encode()))
    content = {"format": _FORMAT, "mrac": __version__, "config": kept, "own_files": entries, "files": listed}
    write_json(manifest, content)
    _LOG.info("saved to %s, with %d files of weights", folder, len(listed))
    return folder


def load_saved(folder: Path) -> dict[str, Any]:
    """The configuration of a saved folder, its files checked and named by their paths here.

    Raises:
        ContractError: the folder is not one of `save`, of a later version, or a file is missing, changed, of a kind
            that `save` does not write, or named by a path outside of the folder; or a model's folder holds others.
    """
    manifest = _manifest(folder)
    _check_version(manifest, folder)
    config: dict[str, Any] = _table(manifest, "config", folder)
    files, own = (_table(manifest, name, folder) for name in ("files", "own_files"))
    unknown = [key for key in config if key not in KEYS or key == "cache"]
    if unknown:
        raise ContractError(f"load: {folder}: {MANIFEST}: no entry {unknown[0]!r} belongs in a saved configuration")
    for name, stated in files.items():
        path = _inside(folder, name)
        if not may_be_saved(path):
            raise ContractError(f"load: {folder}: {name!r:.80} is no file that save writes; it may run code where read")
        _check_file(path, stated, f"load: {folder}: {name}")
    _place(config, own, folder, list(files))
    _LOG.info("loaded %s, saved by mrac %s, with %d files of weights", folder, manifest["mrac"], len(files))
    return config


def _place(config: dict[str, Any], own: list[Any], folder: Path, files: list[str]) -> None:
    """Turns the options that name files of the folder into paths, and refuses all others that name a path."""
    named = {}
    for entry in own:
        parts = [entry.get(key) for key in ("stage", "option", "path")] if isinstance(entry, dict) else [None]
        if not all(isinstance(part, str) for part in parts) or parts[0] not in STAGES:
            raise ContractError(f"load: {folder}: {MANIFEST}: own_files: {entry!r:.80} is no stage, option and path")
        if not any(name == parts[2] or name.startswith(f"{parts[2]}/") for name in files):
            raise ContractError(f"load: {folder}: {MANIFEST}: {parts[2]} is not among the files with a checksum")
        path = _inside(folder, str(parts[2]))
        if path.suffix.lower() == ".onnx":
            check_onnx(path, f"load: {folder}")
        if more := _unlisted(path, folder, files):
            raise ContractError(f"load: {more[0]} is not among the files with a checksum; it was added later")
        named[parts[0], parts[1]] = str(path)
    for stage in STAGES:
        table = config.get(stage)
        options = table.get("options") if isinstance(table, dict) else None
        if not isinstance(options, dict):
            raise ContractError(f"load: {folder}: {MANIFEST}: {stage}: a name and a table of options are needed")
        for option, value in options.items():
            if (stage, option) in named:
                options[option] = named[stage, option]
            elif any(names_a_path(option, one) for one in (value if isinstance(value, list) else [value])):
                raise ContractError(
                    f"load: {folder}: {stage}: {option}: {value!r:.80} names a file that is not in the folder; save "
                    "the calibrator again, where that file is"
                )


def _unlisted(path: Path, folder: Path, files: list[str]) -> list[Path]:
    """What a model's folder, which is read as a whole, holds besides the listed files; nothing for a file."""
    found = [one for one in sorted(path.rglob("*")) if one.is_file() and may_be_read(one)]
    return [one for one in found if one.relative_to(folder).as_posix() not in files]


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not folder.is_dir() or not path.is_file():
        what = "has no calibrator.json" if folder.is_dir() else "is no folder"
        raise ContractError(f"load: {folder} {what}; a folder of Calibrator.save, or a name of `mrac list methods`")
    content = read_json(path, "load")
    if not isinstance(content, dict):
        raise ContractError(f"load: {path} holds a {type(content).__name__}; a table is needed")
    return content


def _check_version(manifest: dict[str, Any], folder: Path) -> None:
    form, made_by = manifest.get("format"), manifest.get("mrac")
    if form != _FORMAT:
        raise ContractError(
            f"load: {folder}: format {form!r:.40}; this version reads format {_FORMAT}. Upgrade mrac-depth"
        )
    if not isinstance(made_by, str) or not re.fullmatch(r"\d+(\.\d+)*\S*", made_by):
        raise ContractError(f"load: {folder}: version {made_by!r:.40} of mrac; one such as {__version__} is needed")
    if _release(made_by) > _release(__version__):
        raise ContractError(f"load: {folder} was saved by mrac {made_by}, this is {__version__}. Upgrade mrac-depth")


def _release(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _table(manifest: dict[str, Any], name: str, folder: Path) -> Any:
    value, kind = manifest.get(name), list if name == "own_files" else dict
    if not isinstance(value, kind):
        raise ContractError(f"load: {folder}: {MANIFEST}: {name}: a {kind.__name__} is needed, {value!r:.40} arrived")
    return value


def _inside(folder: Path, name: str) -> Path:
    """The path of a file of the folder; a link to elsewhere counts as elsewhere."""
    windows = PureWindowsPath(name)
    path = folder / name
    if windows.drive or windows.root or ".." in windows.parts or not _below(path, folder):
        raise ContractError(f"load: {folder}: {name!r:.80} leads out of the folder")
    return path


def _below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _describe(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _check_file(path: Path, stated: object, where: str) -> None:
    if not isinstance(stated, dict):
        raise ContractError(f"{where}: bytes and sha256 are needed, {stated!r:.40} arrived")
    if not path.is_file():
        raise ContractError(f"{where}: no such file; copy the whole folder")
    if path.stat().st_size != stated.get("bytes") or _describe(path)["sha256"] != stated.get("sha256"):
        raise ContractError(f"{where}: its content is not what was saved (size or SHA-256); copy the folder again")


def _copy(source: Path, target: Path) -> None:
    if target.exists() and source.samefile(target):  # saved again where it was loaded from
        return

    def write(file: Any) -> None:
        with source.open("rb") as content:
            shutil.copyfileobj(content, file)

    write_whole(target, write)
