"""Python 3.11, 3.12 and 3.13, each where it is on the PATH: the source is valid, the wheel installs and works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.build_dist import CHECKOUT, build

VERSIONS = ("3.11", "3.12", "3.13")
_PARSE = "import ast, sys; [ast.parse(open(path, 'rb').read(), path) for path in sys.argv[1:]]"


def interpreter(version: str) -> str:
    """The path of a Python; the test is skipped where there is none, or only a shim that leads to none."""
    found = shutil.which(f"python{version}")
    if found is not None:
        asked = [found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return found
    pytest.skip(f"no working python{version} on the PATH")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_source_is_valid(version: str) -> None:
    files = [str(path) for folder in ("src", "tests", "examples") for path in (CHECKOUT / folder).rglob("*.py")]
    assert files
    subprocess.run([interpreter(version), "-c", _PARSE, *files], check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))[1]


@pytest.mark.lab  # a minute each: all packages are installed once more
@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_works(version: str, wheel: Path, tmp_path: Path) -> None:
    found, home = interpreter(version), tmp_path / "empty"
    subprocess.run([found, "-m", "venv", home], check=True)
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--only-binary", ":all:", "-r", str(CHECKOUT / "locks" / "runtime.txt")]
    subprocess.run([*pip, *locked], check=True)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    # Without the checkout on the path, so that what runs is the wheel.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["MRAC_CACHE"] = "off"
    smoke = CHECKOUT / "tests" / "e2e" / "smoke.py"
    done = subprocess.run([python, smoke], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Python {version}." in done.stdout
    shown = subprocess.run(
        [python, "-m", "mrac", "--version"], capture_output=True, text=True, env=environment, check=True
    )
    assert shown.stdout.startswith("mrac, version ")
