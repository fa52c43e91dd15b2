"""Locked versions: hashes of all that the runtime and its build need, and the versions of constraints.txt."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.e2e.build_dist import CHECKOUT
from tests.e2e.sbom import everything, requirements

RUNTIME, BUILD = CHECKOUT / "locks" / "runtime.txt", CHECKOUT / "locks" / "build.txt"
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def pinned(path: Path) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.mark.parametrize("path", [RUNTIME, BUILD], ids=lambda path: path.name)
class TestEveryLock:
    def test_each_line_is_a_version_a_hash_or_a_comment(self, path: Path) -> None:
        kinds = (r"#.*", r" +#.*", r"", r"[a-z0-9-]+==[0-9][0-9a-z.]* \\", r"    --hash=sha256:[0-9a-f]{64}( \\)?")
        for line in path.read_text(encoding="utf-8").splitlines():
            assert any(re.fullmatch(kind, line) for kind in kinds), line
            assert "://" not in line  # no index: whoever installs has their own

    def test_each_version_has_a_hash(self, path: Path) -> None:
        parts = re.split(r"^(?=[a-z])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        assert parts
        assert all("--hash=sha256:" in part for part in parts)

    def test_the_versions_are_those_that_the_tests_were_run_with(self, path: Path) -> None:
        known = pinned(CHECKOUT / "constraints.txt")
        assert pinned(path) == {name: known.get(name) for name in pinned(path)}, "make lock"


def test_all_that_the_runtime_needs_is_locked_and_nothing_else() -> None:
    direct = {canonicalize_name(Requirement(line).name) for line in PROJECT["project"]["dependencies"]}
    assert direct <= set(pinned(RUNTIME))
    assert everything(requirements(requires("mrac-depth") or [])) == set(pinned(RUNTIME)), "make lock"
    for line in PROJECT["project"]["dependencies"]:
        asked = Requirement(line)
        assert asked.specifier.contains(pinned(RUNTIME)[canonicalize_name(asked.name)])


def test_what_builds_the_package_is_locked() -> None:
    asked = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
    assert {canonicalize_name(one.name) for one in asked} == set(pinned(BUILD))
    assert all(one.specifier.contains(pinned(BUILD)[canonicalize_name(one.name)]) for one in asked)


def test_compiled_packages_have_files_for_many_machines() -> None:
    text = RUNTIME.read_text(encoding="utf-8")
    for name in ("numpy", "scipy", "numba", "llvmlite", "onnxruntime", "pillow"):
        (part,) = re.findall(rf"^{name}==.*?(?=^[a-z]|\Z)", text, re.DOTALL | re.MULTILINE)
        assert part.count("--hash=") >= 6  # of x86-64 and aarch64, three Pythons each
