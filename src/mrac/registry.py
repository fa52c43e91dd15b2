"""The registry: finds implementations by file name, makes them from specs, checks their parameters.

`mrac/gate/ransac.py` is the gate `ransac`; there is no list to edit.

Listing names imports nothing: names come from the folder, summaries from the first line of each file's docstring.
Files that start with an underscore, and `base.py`, are not implementations. Methods are the table in `methods.py`.
Other packages add implementations through entry points of the group `mrac.<stage>`. A stage may have a `_catalog.py`
with short names for specs: `dav2-large` stands for `hf:depth-anything/Depth-Anything-V2-Large-hf`. What a benchmark
varies around the stages (data sets, outlier families, anchor placement) is found the same way.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, get_origin, get_type_hints

from mrac.errors import ContractError, shown
from mrac.methods import METHODS

STAGES: Final = ("foundation", "gate", "fit", "head")
KINDS: Final = (*STAGES, "method", "dataset", "outlier", "placement")
_FOLDERS: Final = {"dataset": "lab.data", "outlier": "outliers", "placement": "lab.placement"}


def _package(stage: str) -> str:
    if stage not in KINDS:
        raise ContractError(f"registry: {stage!r} is not a stage; one of {', '.join(KINDS)} is needed")
    return _FOLDERS.get(stage, stage)


def _folder(stage: str) -> Path:
    return Path(__file__).parent.joinpath(*_package(stage).split("."))


def _own(stage: str) -> list[str]:
    if stage == "method":
        return list(METHODS)
    found = (module.name for module in pkgutil.iter_modules([str(_folder(stage))]))
    return [name for name in found if not name.startswith("_") and name != "base"]


def names(stage: str) -> list[str]:
    """The registered names of `stage`, sorted: the package's own files and installed entry points."""
    return sorted({*_own(stage), *(point.name for point in entry_points(group=f"mrac.{stage}"))})


def summary(stage: str, name: str) -> str:
    """One line on the implementation: the first of its docstring, read without importing it."""
    if stage == "method" and name in METHODS:
        return METHODS[name].summary
    own = (_folder(stage) / f"{name}.py", _folder(stage) / name / "__init__.py")
    path = next((path for path in own if path.is_file()), None)
    if path is None:
        return _origin(stage, name)
    return first_docstring_line(path)


def first_docstring_line(path: Path) -> str:
    """The first line of a module's docstring, read without importing it."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _origin(stage: str, name: str) -> str:
    for point in entry_points(group=f"mrac.{stage}", name=name):
        package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
        return f"Plug-in{package}: {point.value}"
    return "from an installed plug-in"


def catalog(stage: str) -> Mapping[str, Any]:
    """The short names of `stage` and what they stand for: entries with a `spec` and, for a table, a `row()`."""
    if not (_folder(stage) / "_catalog.py").is_file():
        return {}
    entries: Mapping[str, Any] = importlib.import_module(f"mrac.{_package(stage)}._catalog").CATALOG
    return entries


def load(stage: str, name: str) -> Any:
    """The implementation called `name`: a class for most stages, a `Method` for methods.

    Raises:
        ContractError: there is none of that name.
    """
    given: object = name
    if not isinstance(given, str):
        raise ContractError(f"{stage}: {shown(given)} arrived; a name is needed; known: {', '.join(names(stage))}")
    if name in _own(stage):  # first, since looking for plug-ins takes milliseconds
        if stage == "method":
            return METHODS[name]
        return importlib.import_module(f"mrac.{_package(stage)}.{name}").IMPLEMENTATION
    known = names(stage)
    if name not in known:
        more = f", and the short names that `mrac list {stage}s` shows" if catalog(stage) else ""
        raise ContractError(f"{stage}: there is no {name!r}; known: {', '.join(known)}{more}")
    (point,) = entry_points(group=f"mrac.{stage}", name=name)
    return point.load()


def create(stage: str, spec: str) -> Any:
    """An instance from a spec: `ransac`, `theil_sen_mad:kappa=3`, `onnx:model.onnx`.

    After the colon stand either `field=value` pairs, separated by commas, or one bare value for the first field. A
    short name from the stage's catalogue takes the options of what it stands for: `dav2-large:device=cpu`.

    Raises:
        ContractError: unknown name or field, or a value that does not fit the field.
    """
    short, _, argument = spec.partition(":")
    name, preset = _written_out(stage, short)
    implementation = load(stage, name)
    options = _options(implementation, stage, name, preset)
    options |= _options(implementation, stage, name, argument, bare=not preset)
    _require(implementation, stage, name, options)
    try:
        return implementation(**options)
    except TypeError as error:
        raise ContractError(f"{stage} {name}: {error}") from None


def build(stage: str, name: str, options: Mapping[str, Any]) -> Any:
    """An instance from a name, as `create` takes it, and options by name as values.

    Raises:
        ContractError: unknown name or option, or a value of another type than the option's.
    """
    name, preset = _written_out(stage, name)
    implementation = load(stage, name)
    given = _options(implementation, stage, name, preset)
    kinds = get_type_hints(implementation) if dataclasses.is_dataclass(implementation) else {}
    fields = [f.name for f in dataclasses.fields(implementation) if f.init] if kinds else []
    for key, value in options.items():
        if key not in fields:
            known = f"known: {', '.join(fields)}" if fields else "it takes none"
            raise ContractError(f"{stage} {name}: no option {key!r}; {known}")
        given[key] = _converted(value, kinds[key], f"{stage} {name}: option {key}")
    _require(implementation, stage, name, given)
    return implementation(**given)


def _written_out(stage: str, name: str) -> tuple[str, str]:
    """The name and the options that a short name of the catalogue stands for; any other name as it is."""
    if name not in catalog(stage) or name in names(stage):
        return name, ""
    name, _, options = catalog(stage)[name].spec.partition(":")
    return name, options


def _converted(value: Any, kind: Any, where: str) -> Any:
    """A value of a file as its field has it: files have no paths and no tuples."""
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    fits = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}.get(kind)
    if fits is not None and (not isinstance(value, fits) or (kind is not bool and isinstance(value, bool))):
        raise ContractError(f"{where}: {value!r} arrived, {kind.__name__} is needed")
    return value


def stage_name(implementation: Any) -> str:
    """The name of a stage's implementation, as a report shows it.

    Ours: that of its module. A plug-in's: that of its entry point. Otherwise the name of the function or the class.
    """
    own: str | None = getattr(implementation, "stage_name", None)
    if isinstance(own, str):
        return own
    if hasattr(implementation, "__name__"):
        return function_name(implementation)
    kind: Any = type(implementation)
    return _class_name(kind)


@cache  # looking for plug-ins takes milliseconds
def _class_name(kind: Any) -> str:
    package, _, module = str(kind.__module__).rpartition(".")
    if package.partition(".")[0] == "mrac":
        return module
    for stage in STAGES:
        for point in entry_points(group=f"mrac.{stage}"):
            near = point.module.partition(".")[0] == kind.__module__.partition(".")[0]
            if near and point.load() is kind:
                return point.name
    return str(kind.__name__)


def function_name(function: Any) -> str:
    """The name of a function, `lambda` where it has none; of another callable that of what it wraps or of its class."""
    name: str = getattr(getattr(function, "func", function), "__name__", type(function).__name__)
    return name.strip("<>")


def parameter_names(function: Any) -> frozenset[str]:
    """Which parameters a callable can be given by name; none of one written in C without a signature."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(one.name for one in found if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY))


def stage_options(implementation: object) -> dict[str, Any]:
    """The parameters of any stage, ours or a user's own class, as values that a report can hold."""
    return {k: _plain(v) for k, v in getattr(implementation, "__dict__", {}).items()}


def _plain(value: Any) -> str | int | float:
    if isinstance(value, str | int | float):
        return value
    # The repr of a function has its address in memory, another one in every run.
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)


def check_numbers(stage: Any, low: float, high: float, only: tuple[str, ...] = ()) -> None:
    """Raises `ContractError` unless the stage's numeric fields are finite and in [low, high], whole where they must be.

    Args:
        stage: a dataclass instance.
        low: the least value permitted.
        high: the largest value permitted.
        only: the fields to check; all numeric ones if empty.
    """
    kinds = get_type_hints(type(stage))
    for field in dataclasses.fields(stage):
        kind, value = kinds[field.name], getattr(stage, field.name)
        if kind not in (int, float) or (only and field.name not in only):
            continue
        where = f"{type(stage).__name__}.{field.name}"
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else int):
            needed = "a whole number" if kind is int else "a number"
            raise ContractError(f"{where}: {value!r} arrived, {needed} is needed")
        if not low <= value <= high:  # compared, not converted: a whole number may have any length; NaN fails too
            raise ContractError(f"{where}: {shown(value)} arrived, a number from {low:g} to {high:g} is needed")


def _options(implementation: Any, stage: str, name: str, argument: str, *, bare: bool = True) -> dict[str, Any]:
    if not argument:
        return {}
    kinds = get_type_hints(implementation)  # plug-ins may have postponed annotations
    fields = {f.name: kinds[f.name] for f in dataclasses.fields(implementation) if f.init}
    known = f"known: {', '.join(fields)}" if fields else "it takes none"
    key, equals, _ = argument.partition("=")
    if not (equals and key in fields):
        first = next(iter(fields), None)
        # `miror=0` is a slip, not a file of that name; `path=miror=0` still names one.
        slip = equals and key.isidentifier()
        if not equals and key in fields and (first is None or fields[first] not in (str, Path)):
            raise ContractError(f"{stage} {name}: option {key} needs a value: {name}:{key}=VALUE")
        if first is None or slip or not bare or fields[first] not in (str, Path):
            raise ContractError(f"{stage} {name}: no option {key!r}; {known}")
        if re.search(rf",({'|'.join(fields)})=", argument):
            raise ContractError(
                f"{stage} {name}: with options, the {first} is named as well: {name}:{first}={argument}"
            )
        return {first: argument}
    options: dict[str, Any] = {}
    for pair in argument.split(","):
        key, equals, text = pair.partition("=")
        if not equals or key not in fields:
            raise ContractError(f"{stage} {name}: no option {key!r}; {known}")
        where = f"{stage} {name}: option {key}"
        if fields[key] is bool:
            options[key] = _yes_or_no(text, where)
        else:
            options[key] = text if fields[key] in (str, Path) else _number(text, where)
    return options


def _require(implementation: Any, stage: str, name: str, options: dict[str, Any]) -> None:
    if not dataclasses.is_dataclass(implementation):
        return
    for field in dataclasses.fields(implementation):
        given = field.name in options or not field.init
        if not given and field.default is field.default_factory is dataclasses.MISSING:
            raise ContractError(f"{stage} {name}: {field.name} is needed: {name}:{field.name.upper()}")


def _yes_or_no(text: str, where: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise ContractError(f"{where}: {text!r} is neither true nor false")
    return text.lower() in ("true", "1")


def _number(text: str, where: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ContractError(f"{where}: {text!r} is not a number")
