"""The bill of materials names every package and every weight file, and keeps to CycloneDX's form."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mrac import __version__
from mrac.runtime.weight_files import WEIGHTS
from tests.e2e.build_dist import CHECKOUT
from tests.e2e.sbom import bill, requirements

HASHES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["alg", "content"],
        "properties": {"alg": {"enum": ["SHA-256"]}, "content": {"pattern": "^[0-9a-f]{64}$"}},
        "additionalProperties": False,
    },
}
LICENCES = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            {
                "type": "object",
                "required": ["expression"],
                "additionalProperties": False,
                "properties": {"expression": {}},
            },
            {
                "type": "object",
                "required": ["license"],
                "additionalProperties": False,
                "properties": {
                    "license": {
                        "type": "object",
                        "required": ["name"],
                        "additionalProperties": False,
                        "properties": {"name": {"type": "string", "minLength": 2}},
                    }
                },
            },
        ]
    },
}
COMPONENT = {
    "type": "object",
    "required": ["type", "bom-ref", "name", "version", "licenses"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["application", "library", "machine-learning-model"]},
        "bom-ref": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1},
        "version": {"type": "string", "minLength": 1},
        "purl": {"type": "string", "pattern": r"^pkg:pypi/[a-z0-9-]+@[^@\s]+$"},
        "licenses": LICENCES,
        "hashes": HASHES,
    },
}
# What CycloneDX 1.6 requires of these parts, and no field that it does not know.
SCHEMA = {
    "type": "object",
    "required": ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"],
    "additionalProperties": False,
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.6"},
        "serialNumber": {"pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
        "version": {"type": "integer", "minimum": 1},
        "metadata": {"type": "object", "additionalProperties": False, "properties": {"component": COMPONENT}},
        "components": {"type": "array", "items": COMPONENT},
        "dependencies": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["ref"],
                "additionalProperties": False,
                "properties": {"ref": {"type": "string"}, "dependsOn": {"type": "array", "uniqueItems": True}},
            },
        },
    },
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of our wheel that a bill reads; building all of it takes longer."""
    project = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    (needed,) = re.findall(r"^dependencies = \[(.*?)\]", project, re.DOTALL | re.MULTILINE)
    lines = ["Metadata-Version: 2.4", "Name: mrac-depth", f"Version: {__version__}", "License-Expression: Apache-2.0"]
    lines += [f"Requires-Dist: {word}" for word in re.findall('"([^"]+)"', needed)]
    lines += ['Requires-Dist: torch>=2.6; extra == "torch"']
    path = tmp_path_factory.mktemp("dist") / f"mrac_depth-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"mrac_depth-{__version__}.dist-info/METADATA", "\n".join(lines))
        for name in ("embedded.onnx", "consensus_learned.npz", "embedded.md"):
            archive.write(WEIGHTS / name, f"mrac/weights/{name}")
    return path


@pytest.fixture(scope="module")
def made(wheel: Path) -> dict[str, Any]:
    return bill(wheel)


def test_it_keeps_to_the_form(made: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(made, SCHEMA)
    refs = [one["bom-ref"] for one in (made["metadata"]["component"], *made["components"])]
    assert len(set(refs)) == len(refs)
    named = {ref for one in made["dependencies"] for ref in (one["ref"], *one["dependsOn"])}
    assert named == set(refs)  # each belongs to something


def test_it_has_what_the_lock_has_and_nothing_of_an_extra(made: dict[str, Any]) -> None:
    packages = {one["name"]: one["version"] for one in made["components"] if one["type"] == "library"}
    locked = re.findall(
        r"^([a-z0-9-]+)==", (CHECKOUT / "locks" / "runtime.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(packages) == sorted(locked)
    assert packages == {name: version(name) for name in packages}


def test_weights_have_their_hash_and_their_terms(made: dict[str, Any]) -> None:
    weights = {one["name"]: one for one in made["components"] if one["type"] == "machine-learning-model"}
    assert set(weights) == {"mrac/weights/embedded.onnx", "mrac/weights/consensus_learned.npz"}
    one = weights["mrac/weights/embedded.onnx"]
    assert one["hashes"][0]["content"] == hashlib.sha256((WEIGHTS / "embedded.onnx").read_bytes()).hexdigest()
    assert one["licenses"][0]["license"]["name"].startswith("research only: ")


def test_the_command_writes_it_beside_the_wheel_twice_the_same(wheel: Path, made: dict[str, Any]) -> None:
    subprocess.run([sys.executable, "-m", "tests.e2e.sbom", str(wheel.parent)], cwd=CHECKOUT, check=True)
    assert json.loads((wheel.parent / "sbom.json").read_bytes()) == made


def test_markers_and_extras_are_judged() -> None:
    lines = ["Rich>=1", 'winonly; sys_platform == "none"', 'torch; extra == "torch"', "a.b_c"]
    assert requirements(lines) == ["a-b-c", "rich"]
