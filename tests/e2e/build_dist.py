"""Builds the sdist, and the wheel from that sdist, as a package index and its users see them.

python -m tests.e2e.build_dist dist
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


def build(out: Path) -> tuple[Path, Path]:
    """The paths of the sdist and the wheel in `out`; built from a copy, so that no earlier build gets in."""
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "copy"
        home.mkdir()
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(CHECKOUT / name, home)
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(CHECKOUT / "src", home / "src", ignore=ignored)
        subprocess.run([sys.executable, "-c", _SDIST, str(out)], cwd=home, check=True, capture_output=True)
        (sdist,) = out.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        source = Path(folder) / sdist.name.removesuffix(".tar.gz")
        words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out), str(source)]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


if __name__ == "__main__":
    for path in build(Path(sys.argv[1])):
        sys.stdout.write(f"{path} ({path.stat().st_size / 1e6:.1f} MB)\n")
