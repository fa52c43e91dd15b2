"""Writes the bill of materials of a wheel: packages that it brings, weights inside it, with licences and hashes.

python -m tests.e2e.sbom dist      beside the wheel in dist: sbom.json, CycloneDX 1.6

Packages are those of this environment, so of constraints.txt; the hashes of their files are in locks/runtime.txt. Two
runs on the same wheel write the same bytes.
"""

import hashlib
import json
import sys
import uuid
import zipfile
from email import message_from_bytes
from email.message import Message
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mrac.licences import all_terms

_WEIGHTS: Final = (".onnx", ".npz", ".safetensors")
_LICENCE: Final = "License :: "


def bill(wheel: Path) -> dict[str, Any]:
    """The bill of materials, as CycloneDX has it in JSON."""
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        own = message_from_bytes(archive.read(about))
        inside = {name: archive.read(name) for name in archive.namelist() if name.endswith(_WEIGHTS)}
    root = _package(own) | {"type": "application", "hashes": [_sha256(wheel.read_bytes())]}
    needed = requirements(own.get_all("Requires-Dist", []))
    packages = {name: _package(distribution(name).metadata) for name in sorted(everything(needed))}
    weights = [_weights(name, content, own["Version"]) for name, content in sorted(inside.items())]
    depends = {root["bom-ref"]: [packages[name]["bom-ref"] for name in needed] + [one["bom-ref"] for one in weights]}
    for name, package in packages.items():
        inner = requirements(distribution(name).requires or [])
        depends[package["bom-ref"]] = [packages[one]["bom-ref"] for one in inner]
    content = {
        "metadata": {"component": root},
        "components": [*packages.values(), *weights],
        "dependencies": [{"ref": ref, "dependsOn": sorted(found)} for ref, found in depends.items()],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
    } | content


def requirements(lines: list[str]) -> list[str]:
    """Names of the packages that lines of Requires-Dist need here, extras left out, sorted."""
    parsed = [Requirement(line) for line in lines]
    return sorted(
        {canonicalize_name(one.name) for one in parsed if not one.marker or one.marker.evaluate({"extra": ""})}
    )


def everything(names: list[str]) -> set[str]:
    """These packages and all that they need, as installed here."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += requirements(distribution(name).requires or [])
    return found


def _package(about: Message | Any) -> dict[str, Any]:
    name, version = canonicalize_name(about["Name"]), about["Version"]
    ref = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": ref,
        "name": name,
        "version": version,
        "purl": ref,
        "licenses": _licence(about),
    }


def _licence(about: Message | Any) -> list[dict[str, Any]]:
    """As stated: an expression of SPDX, else the classifier, else the first line of the free text."""
    if expression := about.get("License-Expression"):  # by []: from Python 3.12 on a missing one warns
        return [{"expression": expression}]
    named = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith(_LICENCE)]
    stated = named or [str(about.get("License") or "").strip().partition("\n")[0]]
    return [{"license": {"name": name}} for name in stated if name]


def _weights(name: str, content: bytes, version: str) -> dict[str, Any]:
    file = PurePosixPath(name).name
    (terms,) = (one for one in all_terms() if one.kind == "file" and one.name == file)
    return {
        "type": "machine-learning-model",
        "bom-ref": f"file:{name}",
        "name": name,
        "version": version,
        "hashes": [_sha256(content)],
        "licenses": [{"license": {"name": f"{terms.use}: {terms.why}"}}],
    }


def _sha256(content: bytes) -> dict[str, str]:
    return {"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    (found,) = Path(sys.argv[1]).glob("*.whl")
    out = found.with_name("sbom.json")
    out.write_text(json.dumps(bill(found), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{out}\n")
