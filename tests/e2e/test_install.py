"""What a lean installation promises."""

import subprocess
import sys

HEAVY = ("torch", "transformers", "sklearn", "skimage", "ray", "matplotlib", "onnx", "onnxruntime", "numba", "scipy")


def modules_after(code: str) -> set[str]:
    listing = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light() -> None:
    assert not modules_after("import mrac; mrac.__version__") & set(HEAVY)


def test_calibrating_needs_no_extra() -> None:
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator; "
        "Calibrator(foundation='none')(np.zeros((8, 8, 3), np.uint8), Anchors([[1, 1], [5, 5], [3, 6]], [1, 2, 3]))"
    )
    assert not modules_after(code) & {"torch", "transformers", "sklearn", "skimage", "ray", "onnx", "onnxruntime"}


def test_the_network_in_the_package_needs_no_extra() -> None:
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator; "
        "Calibrator()(np.zeros((40, 60, 3), np.uint8), Anchors([[1, 1], [5, 5], [3, 6]], [1, 2, 3]))"
    )
    assert not modules_after(code) & {"torch", "transformers", "sklearn", "skimage", "ray", "onnx"}


def test_the_learned_heads_need_no_extra() -> None:
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator\n"
        "for method in ('mrac', 'raw_depth'):\n"
        "    anchors = Anchors([[1, 1], [50, 5], [3, 36], [40, 30]], [1, 2, 3, 2])\n"
        "    Calibrator(method)(np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8), anchors)\n"
    )
    assert not modules_after(code) & {"torch", "transformers", "sklearn", "skimage", "ray", "onnx"}


def test_public_names_resolve() -> None:
    code = "import mrac\nassert all(getattr(mrac, name) is not None for name in mrac.__all__)\n"
    modules_after(code)
