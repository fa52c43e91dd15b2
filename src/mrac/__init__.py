"""Dense metric depth from one image and sparse metric anchors, some of them wrong.

The names below are the public interface; they load on first use, so that `import mrac` itself is instant. What is
decided is logged under the logger `mrac`, which is silent unless the program sets logging up.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mrac.version import __version__

if TYPE_CHECKING:
    from mrac.anchors import Anchors, read_anchors
    from mrac.camera import Camera, Pose, read_camera, read_pose
    from mrac.errors import ContractError, MissingExtra, MracError
    from mrac.estimators import GncGate, MsacGate, RansacGate, SiegelGate, TheilSenGate
    from mrac.fit.base import Fit
    from mrac.foundation.base import Foundation
    from mrac.gate.base import Gate
    from mrac.gate.theil_sen_mad import theil_sen_gate
    from mrac.head.base import Head, HeadResult, Scene
    from mrac.io.image import read_image
    from mrac.methods import Method
    from mrac.pipeline import Calibrator
    from mrac.result import MetricDepth, Verdicts
    from mrac.types import FitResult, GateResult, RelativeDepth, Samples

_MODULES = {
    "Anchors": "mrac.anchors",
    "Calibrator": "mrac.pipeline",
    "Camera": "mrac.camera",
    "ContractError": "mrac.errors",
    "Fit": "mrac.fit.base",
    "FitResult": "mrac.types",
    "Foundation": "mrac.foundation.base",
    "Gate": "mrac.gate.base",
    "GateResult": "mrac.types",
    "GncGate": "mrac.estimators",
    "Head": "mrac.head.base",
    "HeadResult": "mrac.head.base",
    "Method": "mrac.methods",
    "MetricDepth": "mrac.result",
    "MissingExtra": "mrac.errors",
    "MracError": "mrac.errors",
    "MsacGate": "mrac.estimators",
    "RansacGate": "mrac.estimators",
    "Pose": "mrac.camera",
    "RelativeDepth": "mrac.types",
    "Samples": "mrac.types",
    "Scene": "mrac.head.base",
    "SiegelGate": "mrac.estimators",
    "TheilSenGate": "mrac.estimators",
    "Verdicts": "mrac.result",
    "read_anchors": "mrac.anchors",
    "read_camera": "mrac.camera",
    "read_image": "mrac.io.image",
    "read_pose": "mrac.camera",
    "theil_sen_gate": "mrac.gate.theil_sen_mad",
}

__all__ = [
    "Anchors",
    "Calibrator",
    "Camera",
    "ContractError",
    "Fit",
    "FitResult",
    "Foundation",
    "Gate",
    "GateResult",
    "GncGate",
    "Head",
    "HeadResult",
    "Method",
    "MetricDepth",
    "MissingExtra",
    "MracError",
    "MsacGate",
    "Pose",
    "RansacGate",
    "RelativeDepth",
    "Samples",
    "Scene",
    "SiegelGate",
    "TheilSenGate",
    "Verdicts",
    "__version__",
    "read_anchors",
    "read_camera",
    "read_image",
    "read_pose",
    "theil_sen_gate",
]


logging.getLogger("mrac").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'mrac' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
