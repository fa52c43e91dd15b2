"""The least that an installation must do: import, load the shipped frames, calibrate them, save and load.

    python -m tests.e2e.smoke

Needs nothing but the package: it also runs where pytest is not installed.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import mrac
from mrac import Calibrator, examples


def main() -> None:
    """Raises `AssertionError` where the package does not do what it should."""
    for name in ("room", "street"):
        frame = examples.load(name)
        out = Calibrator()(frame.image, frame.anchors, camera=frame.camera)
        assert out.status == "ok", out.status
        assert np.isfinite(out.depth_m).all()
        assert float(np.nanmedian(np.abs(out.depth_m / frame.depth_m - 1.0))) < 0.05
    with tempfile.TemporaryDirectory() as folder:
        again = Calibrator.load(Calibrator("cfa_ols").save(Path(folder) / "saved"))
        assert again.config() == Calibrator("cfa_ols").config()
    sys.stdout.write(f"mrac {mrac.__version__}, Python {sys.version.split()[0]}: ok\n")


if __name__ == "__main__":
    main()
