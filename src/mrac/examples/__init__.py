"""Example frames: images with range readings of which some are wrong, true depth and camera, to try things on.

Two ship with the package, rendered by this project (`python -m mrac.lab.example_frames` writes them); a third is the
real photograph of `mrac demo`, where scikit-image (extra `demo`) is installed.
"""

from typing import Final

from mrac.errors import ContractError
from mrac.examples.example import Example
from mrac.examples.motorcycle import motorcycle
from mrac.examples.shipped import load_shipped

__all__ = ["Example", "load", "motorcycle", "names"]

_SHIPPED: Final = ("room", "street")
_PHOTOGRAPH: Final = "motorcycle"


def names() -> tuple[str, ...]:
    """What `load` takes; `motorcycle`, the last, needs the extra `demo`."""
    return (*_SHIPPED, _PHOTOGRAPH)


def load(name: str = "room") -> Example:
    """An example frame by its name: image, readings with known faults, true depth, camera.

    Args:
        name: `room` or `street`, which ship with the package, or `motorcycle`, a real photograph.

    Raises:
        ContractError: there is no such example.
        MissingExtra: `motorcycle`, without scikit-image, which carries the photograph.
    """
    if name in _SHIPPED:
        return load_shipped(name)
    if name == _PHOTOGRAPH:
        return motorcycle()
    raise ContractError(f"examples: no example {name!r}; one of {', '.join(names())} is needed")
