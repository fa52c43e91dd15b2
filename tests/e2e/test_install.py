"""What an installation promises: a wheel of a known size that runs the README's lines, and imports no extra unasked."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.pages.readme import python_lines, shell_lines

CHECKOUT = Path(__file__).parents[2]
MOST_BYTES = 17_000_000
EXTRAS = {"torch", "transformers", "sklearn", "skimage", "ray", "onnx", "pyarrow", "matplotlib"}


def build_wheel(home: Path) -> Path:
    """Builds a copy of the checkout: what an earlier build left there does not get in."""
    home.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, home)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(CHECKOUT / "src", home / "src", ignore=ignored)
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(home / "dist"), str(home)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    (wheel,) = (home / "dist").glob("*.whl")
    return wheel


def test_the_wheel_is_small_and_has_what_it_needs(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "copy")
    assert wheel.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    weights = {name for name in inside if name.startswith("mrac/weights/")}
    assert {f"mrac/weights/{name}.onnx" for name in ("embedded", "vanilla", "b_prime", "raw_depth")} <= weights
    assert "mrac/weights/consensus_learned.npz" in weights
    assert "mrac/weights/sml_retrained.onnx" not in weights
    assert not [name for name in weights if name.endswith(".safetensors")]
    assert "mrac/py.typed" in inside
    for folder in ("paper", "protocols"):
        files = {path.name for path in (CHECKOUT / "src" / "mrac" / "lab" / "bench" / folder).iterdir()}
        assert {f"mrac/lab/bench/{folder}/{name}" for name in files - {"__pycache__"}} <= inside


@pytest.mark.lab  # a minute: all packages are installed once more
def test_an_empty_environment_runs_the_readme(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "copy")
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
