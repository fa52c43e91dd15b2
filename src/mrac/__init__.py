"""Dense metric depth from one image and a few range readings, some of them wrong.

The names below are the public interface; they load on first use, so that `import mrac` itself is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mrac.version import __version__

if TYPE_CHECKING:
    from mrac.errors import ContractError, MissingExtra, MracError
    from mrac.gate.theil_sen_mad import theil_sen_gate
    from mrac.pipeline import Calibrator
    from mrac.types import Anchors, MetricDepth, RelativeDepth

_HOME = {
    "Anchors": "mrac.types",
    "Calibrator": "mrac.pipeline",
    "ContractError": "mrac.errors",
    "MetricDepth": "mrac.types",
    "MissingExtra": "mrac.errors",
    "MracError": "mrac.errors",
    "RelativeDepth": "mrac.types",
    "theil_sen_gate": "mrac.gate.theil_sen_mad",
}

__all__ = [
    "Anchors",
    "Calibrator",
    "ContractError",
    "MetricDepth",
    "MissingExtra",
    "MracError",
    "RelativeDepth",
    "__version__",
    "theil_sen_gate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mrac' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
