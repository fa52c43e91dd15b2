"""`mrac list`: all that can be chosen by name, and the file formats: the kinds, or one kind with a line on each."""

import importlib
import json
import math
from dataclasses import asdict
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from mrac import registry
from mrac.formats import FORMATS, rows
from mrac.licences import all_terms
from mrac.runtime.providers import DEVICE_NAMES

_STAGES: Final = {f"{kind}s": kind for kind in registry.KINDS}
_TITLES: Final = {
    "methods": "named choices of the four stages below",
    "foundations": "networks, from image to relative depth",
    "gates": "which readings are wrong",
    "fits": "from relative to metric depth",
    "heads": "from the fit to dense depth and its deviation",
    "sensors": "presets of range sensors: what their numbers mean",
    "anchors": "file formats of readings",
    "cameras": "file formats of cameras",
    "clouds": "file formats of point clouds",
    "results": "file formats of results",
    "devices": "what networks run on",
    "datasets": "data sets of the benchmark",
    "outliers": "families of wrong readings",
    "placements": "where a benchmark takes its readings",
    "licences": "what may be done with which part",
}


@click.command(name="list", short_help="Methods, networks, gates, sensors, formats, licences, ...")
@click.argument("what", type=click.Choice(list(_TITLES)), metavar="[KIND]", required=False)
@click.option("--json", "as_json", is_flag=True, help="For machines: one object, with a list for each kind.")
def list_names(what: str | None, as_json: bool) -> None:
    """List all that can be chosen of one KIND, with one line on each; without one, the kinds.

    \b
    KIND is one of
      methods foundations gates fits heads      what a calibration is made of
      sensors anchors cameras clouds results    sensors and file formats
      devices                                   what networks run on
      datasets outliers placements              what a benchmark varies
      licences                                  what may be done with which part

    \b
    Examples:
      mrac list
      mrac list gates
      mrac list --json
    """
    kinds = list(_TITLES) if what is None else [what]
    if as_json:
        click.echo(json.dumps({kind: _plain(kind) for kind in kinds}, indent=2))
        return
    console = Console(highlight=False)
    if what is None:
        _print_kinds(console)
    else:
        _print(console, what)


def _names(kind: str) -> list[tuple[str, str]]:
    """(name, what it is) of all of a kind."""
    if kind in FORMATS:
        return rows(kind)
    if kind == "sensors":
        return _sensors()
    if kind == "devices":
        return _devices()
    if kind == "licences":
        return [(f"{one.kind} {one.name}", f"{one.use}: {one.why}") for one in all_terms()]
    stage = _STAGES[kind]
    names = sorted(registry.names(stage), key=lambda name: name != "default")
    return [(name, registry.summary(stage, name)) for name in names]


def _sensors() -> list[tuple[str, str]]:
    from mrac.sensors import sensor, sensor_names  # noqa: PLC0415  (numpy, which other kinds do without)

    units = {1.0: "metres", 100.0: "centimetres", 1000.0: "millimetres"}
    found = []
    for name in sensor_names():
        one = sensor(name)
        what = "depth along the axis" if one.quantity == "z" else "length of the ray"
        unit = units.get(one.per_metre, f"{one.per_metre:g} per metre")
        span = f"{one.min_m:g} to {one.max_m:g} m" if math.isfinite(one.max_m) else f"from {one.min_m:g} m"
        about = f"{what} in {unit}, {span}" if one.per_metre else f"{what}, scale unknown"
        found.append((name, f"{about}; {one.source}".removesuffix("; ")))
    return found


def _devices() -> list[tuple[str, str]]:
    from mrac.runtime.providers import DEVICES, PREFERRED, conflict, problem  # noqa: PLC0415  (loads onnxruntime)

    found = []
    for name, device in DEVICES.items():
        missing = problem(name)
        found.append((name, f"{device.about} {'It is there.' if missing is None else f'Not here: {missing}.'}"))
    overwritten = conflict()
    warning = f" {overwritten}." if overwritten else ""
    return [*found, ("auto", f"The first of {', '.join(PREFERRED)} that is there.{warning}")]


def _plain(kind: str) -> list[dict[str, Any]]:
    known = [{"name": name, "summary": summary} for name, summary in _names(kind)]
    short = registry.catalog(_STAGES[kind]) if kind in _STAGES else {}
    return known + [asdict(entry) for entry in short.values()]


def _print_kinds(console: Console) -> None:
    table = Table("kind", Column("names", justify="right"), "what it is", box=None, pad_edge=False)
    for kind, title in _TITLES.items():
        table.add_row(kind, str(_count(kind)), title)
    console.print(table)
    console.print("\nmrac list KIND shows the names of one, mrac list --json all of them.")


def _count(kind: str) -> int:
    if kind == "devices":  # looking which of them are there loads onnxruntime
        return len(DEVICE_NAMES)
    return len(_names(kind)) + len(registry.catalog(_STAGES[kind]) if kind in _STAGES else ())


def _print(console: Console, kind: str) -> None:
    table = Table("name", "what it is", box=None, pad_edge=False)
    for name, summary in _names(kind):
        table.add_row(Text(name), Text(summary))  # as text: [torch] in a summary is no markup
    console.print(table)
    stage = _STAGES.get(kind, "")
    if stage and registry.catalog(stage):
        columns = importlib.import_module(f"mrac.{stage}._catalog").COLUMNS
        short = Table(*columns, box=None, pad_edge=False)
        for entry in registry.catalog(stage).values():
            short.add_row(*entry.row())
        console.print("", short)


COMMAND = list_names
