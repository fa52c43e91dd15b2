"""What an installation promises: sdist and wheel of a known size and content, the README's lines, no extra unasked."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from mrac import __version__
from tests.e2e.build_dist import CHECKOUT, build
from tests.e2e.test_pythons import VERSIONS
from tests.pages.readme import python_lines, shell_lines

MOST_BYTES = 24_000_000
EXTRAS = {"torch", "transformers", "sklearn", "skimage", "ray", "onnx", "pyarrow", "matplotlib"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it."""
    return build(tmp_path_factory.mktemp("dist"))


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_the_sdist_has_what_the_wheel_is_built_from(built: tuple[Path, Path]) -> None:
    sdist, wheel = built
    assert sdist.name == f"mrac_depth-{__version__}.tar.gz"
    assert sdist.stat().st_size <= MOST_BYTES
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"} <= inside
    with zipfile.ZipFile(wheel) as archive:
        packaged = {name for name in archive.namelist() if name.startswith("mrac/")}
    assert {f"src/{name}" for name in packaged} <= inside


def test_the_metadata_is_what_an_index_shows(built: tuple[Path, Path]) -> None:
    about = metadata(built[1])
    assert (about["Name"], about["Version"]) == ("mrac-depth", __version__)
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "Apache-2.0"
    classifiers = set(about.get_all("Classifier", []))
    for version in VERSIONS:
        assert f"Programming Language :: Python :: {version}" in classifiers
    assert {"Typing :: Typed", "Topic :: Scientific/Engineering :: Image Processing"} <= classifiers
    plain = [line for line in about.get_all("Requires-Dist", []) if "extra ==" not in line]
    packages = {re.split(r"[<>=!~ \[]", line)[0] for line in plain}
    assert packages == {"numpy", "scipy", "numba", "pillow", "onnxruntime", "click", "rich"}


def test_every_extra_that_an_error_names_is_one(built: tuple[Path, Path]) -> None:
    extras = set(metadata(built[1]).get_all("Provides-Extra", []))
    named = set()
    for path in (CHECKOUT / "src").rglob("*.py"):
        named |= set(re.findall(r'MissingExtra\([^()]*?,\s*"(\w+)"\)', path.read_text(encoding="utf-8")))
    assert {"demo", "view", "torch"} <= named <= extras


def test_the_version_is_shown() -> None:
    done = subprocess.run([sys.executable, "-m", "mrac", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mrac, version {__version__}\n"


def test_the_wheel_is_small_and_has_what_it_needs(built: tuple[Path, Path]) -> None:
    wheel = built[1]
    assert wheel.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    weights = {name for name in inside if name.startswith("mrac/weights/")}
    assert {f"mrac/weights/{name}.onnx" for name in ("embedded", "vanilla", "b_prime", "raw_depth")} <= weights
    assert "mrac/weights/consensus_learned.npz" in weights
    assert "mrac/weights/sml_retrained.onnx" not in weights
    assert not [name for name in weights if name.endswith(".safetensors")]
    assert "mrac/py.typed" in inside
    frames = {path.name for path in (CHECKOUT / "src" / "mrac" / "examples" / "frames").iterdir()}
    assert {f"mrac/examples/frames/{name}" for name in frames} <= inside
    for folder in ("paper", "protocols"):
        files = {path.name for path in (CHECKOUT / "src" / "mrac" / "lab" / "bench" / folder).iterdir()}
        assert {f"mrac/lab/bench/{folder}/{name}" for name in files - {"__pycache__"}} <= inside


@pytest.mark.lab  # a minute: all packages are installed once more
def test_an_empty_environment_runs_the_readme(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel = built[1]
    home = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pip = [
        str(home / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "-c", str(CHECKOUT / "constraints.txt"), f"{wheel}[demo]"], check=True)
    (tmp_path / "example.py").write_text(python_lines(), encoding="utf-8")
    script = ["set -ex", "python example.py", *shell_lines()]
    (tmp_path / "lines.sh").write_text("\n".join(script), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment |= {"PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", "MRAC_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        ["sh", "lines.sh"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def modules_after(code: str) -> set[str]:
    listing = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


# Without the extras every other test shows it; these look whether they are imported where they are there.


@pytest.mark.lab
def test_calibrating_needs_no_extra() -> None:
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator; "
        "Calibrator(foundation='none')(np.zeros((8, 8, 3), np.uint8), Anchors([[1, 1], [5, 5], [3, 6]], [1, 2, 3]))"
    )
    assert not modules_after(code) & {*EXTRAS, "onnxruntime"}


@pytest.mark.lab
def test_the_networks_in_the_package_need_no_extra() -> None:
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator\n"
        "for method in ('default', 'mrac', 'raw_depth'):\n"
        "    anchors = Anchors([[1, 1], [50, 5], [3, 36], [40, 30]], [1, 2, 3, 2])\n"
        "    Calibrator(method)(np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8), anchors)\n"
    )
    assert not modules_after(code) & EXTRAS
