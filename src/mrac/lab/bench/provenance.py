"""What run.json records: enough to do it again, and to refuse to mix what does not belong together."""

import datetime
import hashlib
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.lab.bench.methods import split_methods
from mrac.lab.bench.protocol import LISTS, Cell, Protocol
from mrac.lab.commit import checkout_commit
from mrac.lab.data import Dataset
from mrac.runtime.parallel import num_cores
from mrac.version import __version__

_PACKAGE: Final = Path(__file__).parents[2]
_INVOCATION: Final = ("command", "chosen", "commit", "versions", "machine", "started", "protocol_hash")


def about_run(
    protocol: Protocol,
    cells: Sequence[Cell],
    sets: Mapping[str, Dataset],
    *,
    limit: int | None,
    device: str,
    command: str,
    chosen: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """The content of run.json for a run that starts now; no path and no name of this machine is in it."""
    return {
        "protocol": protocol.to_json(),
        "protocol_hash": protocol.hash,
        "command": command,
        "chosen": {name: list(values) for name, values in chosen.items()},
        "commit": checkout_commit(short=True),
        "versions": _versions(),
        "machine": {"cores": num_cores(), "platform": f"{platform.system()} {platform.machine()}"},
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "weights": _weights(cells),
        "limit": limit,
        "rules": "paper" if any(dataset.paper_rules for dataset in sets.values()) else "own",
        "device": device,
        "methods": list(dict.fromkeys(cell.method for cell in cells)),
        "sets": {name: _set(dataset, limit) for name, dataset in sets.items()},
        "cells": len(cells),
        "earlier": [],
    }


def continued(before: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    """The record of a run that goes on: what `now` says, with earlier calls listed and nothing forgotten.

    Raises:
        ContractError: the two do not belong into one folder: other weights, images, limit or corruption.
    """
    if before is None:
        return now
    for key, what in (("weights", "the weights"), ("sets", "the images of the set")):
        for name in before[key].keys() & now[key].keys():
            if before[key][name] != now[key][name]:
                raise ContractError(f"bench: {what} {name} have changed since this run began; another --out is needed")
    for key, old, new in (
        ("--limit", before["limit"], now["limit"]),
        ("--rules", before.get("rules", "own"), now["rules"]),  # a run.json of before there was a choice has none
        ("--device", before["device"], now["device"]),  # the last digits differ
        ("--protocol", before["protocol"]["name"], now["protocol"]["name"]),
        ("options of the families", before["protocol"]["families"], now["protocol"]["families"]),
    ):
        if old != new:
            raise ContractError(f"bench: this run began with {key} {old}, {new} arrived; another --out is needed")
    merged = {key: {**before[key], **now[key]} for key in ("weights", "sets")}
    methods = list(dict.fromkeys([*before["methods"], *now["methods"]]))
    earlier = [*before["earlier"], {key: before[key] for key in _INVOCATION if key in before}]
    return {**now, **merged, "methods": methods, "earlier": earlier}


def choices(about: Mapping[str, Any]) -> list[dict[str, tuple[Any, ...]]]:
    """The lists that each call of a run chose anew, for `Protocol.choose`; the sets are always among them.

    A run.json of before they were recorded has them in its commands; one without commands, in its methods.
    """
    named = {name for grid in about["protocol"]["grid"] for name in grid["sets"]}
    there = tuple(about.get("sets", ()))
    own = tuple(name for name in there if name in named) or there
    found = []
    for call in (*about.get("earlier", ()), about):
        if "chosen" in call:
            chosen = {name: tuple(values) for name, values in call["chosen"].items()}
        elif "command" in call:
            chosen = _chosen_by(call["command"])
        else:
            chosen = {"methods": tuple(call["methods"])} if call.get("methods") else {}
        if own and "sets" not in chosen:
            chosen["sets"] = own
        if chosen not in found:
            found.append(chosen)
    return found


def _chosen_by(command: str) -> dict[str, tuple[Any, ...]]:
    words = shlex.split(command)
    kinds: dict[str, type] = {"fractions": float, "anchors": int, "seeds": int}
    return {
        name: tuple(kinds.get(name, str)(value) for value in split_methods(words[words.index(f"--{name}") + 1]))
        for name in LISTS
        if f"--{name}" in words
    }


def _set(dataset: Dataset, limit: int | None) -> dict[str, Any]:
    ids = [entry.id for entry in dataset.entries[:limit]]
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return {"images": len(ids), "hash": digest[:12]}


def _weights(cells: Sequence[Cell]) -> dict[str, str]:
    """SHA-256 of the package's own networks and of the files that methods name, by file name."""
    pattern = re.compile(r"(?:weights=|onnx:|embedded:)([^,;]+\.(?:onnx|npz))")
    named = {path for cell in cells for path in pattern.findall(cell.method)}
    own = (path for path in (_PACKAGE / "weights").iterdir() if path.suffix in (".onnx", ".npz"))
    files = [*own, *(user_path(path) for path in named)]
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files, key=lambda path: path.name)
        if path.is_file()
    }


def _versions() -> dict[str, str]:
    versions = {"mrac": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", "pillow", "onnxruntime", "pyarrow", "torch", "ray"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
