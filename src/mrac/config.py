"""A calibrator's configuration as plain values, and as a JSON or TOML file.

    method = "default"

    [gate]
    name = "theil_sen_mad"

    [gate.options]
    kappa = 3.0

Every stage has a table with its registered `name` and all of its `options`, so that a later change of a default changes
nothing; in a file written by hand a stage may also be a spec (`gate = "theil_sen_mad:kappa=3"`) or be left out. `space`
and `cache` (`folder`, `max_bytes`) are there where they are set, `device` where it is not the CPU. Both kinds of file
are read and written.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mrac import registry
from mrac.errors import ContractError
from mrac.io.files import write_json, write_whole
from mrac.io.input_file import read_json, read_toml
from mrac.registry import STAGES
from mrac.runtime.cache import PredictionCache

KEYS: Final = ("method", *STAGES, "space", "cache", "device")


def stage_table(stage: str, implementation: object) -> dict[str, Any]:
    """The registered name and the options of a stage, as plain values.

    Raises:
        ContractError: it is a function or a class that no name stands for, or an option is no plain value.
    """
    name = registry.stage_name(implementation)
    if name not in registry.names(stage) or registry.load(stage, name) is not type(implementation):
        raise ContractError(
            f"config: the {stage} {name} ({type(implementation).__name__}) has no registered name, so a configuration "
            f"cannot hold it; give it an entry point of the group mrac.{stage}, or build the calibrator in code"
        )
    options = {
        key: _plain(value, f"config: {stage} {name}: option {key}")
        for key, value in _fields(implementation).items()
        if value is not None  # TOML has no word for it; a stage's own default then is None
    }
    return {"name": name, "options": options}


def stage_spec(implementation: object) -> str:
    """The stage as one types it, `theil_sen_mad:kappa=3`, with the options that are not the default's."""
    name, fields = registry.stage_name(implementation), _fields(implementation)
    kinds = {f.name: f for f in dataclasses.fields(implementation)} if fields else {}  # type: ignore[arg-type]
    changed = {key: value for key, value in fields.items() if kinds[key].default != value}
    texts = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in changed.items()]
    return f"{name}:{','.join(texts)}" if texts and not hasattr(implementation, "stage_name") else name


def _fields(implementation: object) -> dict[str, Any]:
    if not dataclasses.is_dataclass(implementation):
        return {}
    return {f.name: getattr(implementation, f.name) for f in dataclasses.fields(implementation) if f.init}


def _plain(value: Any, where: str) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value  # numpy's numbers
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(one, where) for one in value]
    if not isinstance(value, str | int | float):
        raise ContractError(f"{where}: {type(value).__name__} arrived, text, a number, true or false is needed")
    return value


def cache_table(cache: PredictionCache) -> dict[str, Any]:
    """The folder and the size of a cache."""
    return {"folder": str(cache.folder), "max_bytes": cache.max_bytes}


def arguments(source: Mapping[str, Any] | Path | str) -> dict[str, Any]:
    """The arguments of `Calibrator` that a configuration stands for.

    Args:
        source: what `Calibrator.config` gave, or the path of a .json or .toml file.

    Raises:
        ContractError: the file is missing or broken, a key or an option is unknown, or a value does not fit it.
    """
    if not isinstance(source, Mapping | Path | str):
        raise ContractError(f"config: {type(source).__name__} arrived; a dict or a path (.json, .toml) is needed")
    config = source if isinstance(source, Mapping) else read_config(Path(source))
    unknown = [key for key in config if key not in KEYS]
    if unknown:
        raise ContractError(f"config: no entry {unknown[0]!r}; known: {', '.join(KEYS)}")
    found = {key: value for key, value in config.items() if value is not None}
    for key in ("method", "space", "device"):
        if not isinstance(found.get(key, ""), str):
            raise ContractError(f"config: {key}: {found[key]!r} arrived, a name is needed")
    for stage in STAGES:
        if stage in found:
            found[stage] = _implementation(stage, found[stage])
    if isinstance(found.get("cache"), Mapping):
        try:
            found["cache"] = PredictionCache(**found["cache"])
        except TypeError as error:
            raise ContractError(f"config: cache: {error}; folder and max_bytes are known") from None
    return found


def _implementation(stage: str, choice: Any) -> Any:
    if isinstance(choice, str):
        return registry.create(stage, choice)
    if not isinstance(choice, Mapping) or "name" not in choice or not set(choice) <= {"name", "options"}:
        raise ContractError(
            f'config: {stage}: {choice!r} arrived; "name:option=value" or {{"name": ..., "options": {{...}}}} is needed'
        )
    options = choice.get("options", {})
    if not isinstance(options, Mapping):
        raise ContractError(f"config: {stage}: options {options!r} arrived, a table is needed")
    return registry.build(stage, str(choice["name"]), options)


def read_config(path: Path) -> dict[str, Any]:
    """The content of a .json or .toml file.

    Raises:
        ContractError: it is missing, of another kind, or broken.
    """
    content = read_json(path, "config") if _kind(path) == ".json" else read_toml(path, "config")
    if not isinstance(content, dict):
        raise ContractError(f"config: {path} holds a {type(content).__name__}; a table of {', '.join(KEYS)} is needed")
    return content


def write_config(path: Path, config: Mapping[str, Any]) -> None:
    """Writes plain values as JSON or TOML, by the ending of `path`; reading it gives the same again.

    Raises:
        ContractError: it ends otherwise.
    """
    if _kind(path) == ".json":
        write_json(path, dict(config))
    else:
        text = "\n".join(_toml(config, ())).lstrip("\n") + "\n"
        write_whole(path, lambda file: file.write(text.encode()))


def _kind(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in (".json", ".toml"):
        raise ContractError(f"config: {path} ends in {path.suffix!r}; .json or .toml is needed")
    return kind


def _toml(table: Mapping[str, Any], above: tuple[str, ...]) -> list[str]:
    """Lines of a table: its values, then the tables in it. Python's library reads TOML and does not write it."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    for key, value in table.items():
        if isinstance(value, Mapping):
            place = (*above, key)
            lines += ["", f"[{'.'.join(_key(part) for part in place)}]", *_toml(value, place)]
    return lines


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _value(text)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, float):
        return repr(float(value))  # inf and nan are TOML's words too
    # JSON's strings are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
