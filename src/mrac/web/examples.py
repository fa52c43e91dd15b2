"""The shipped scenes that the page offers: those of `mrac.examples`, the photograph first where it is installed."""

from importlib.util import find_spec
from typing import Final

from mrac import examples
from mrac.anchors import Anchors
from mrac.errors import ContractError
from mrac.web.scenes import Scene

_TITLES: Final = {"motorcycle": "Motorcycle, photograph", "room": "Room, rendered", "street": "Street, rendered"}
_NEEDS: Final = {"motorcycle": "skimage"}  # packages that carry an example


def example_names() -> dict[str, str]:
    """Names with titles of what can be loaded here."""
    there = [name for name in examples.names() if name not in _NEEDS or find_spec(_NEEDS[name]) is not None]
    return {name: _TITLES.get(name, name) for name in sorted(there, key=lambda name: name not in _NEEDS)}


def load_example(name: str) -> Scene:
    """The scene of that name; its readings are all pixels of its true depth.

    Raises:
        ContractError: there is none.
    """
    known = example_names()
    if name not in known:
        raise ContractError(f"example: there is no {name!r:.60}; one of {', '.join(known)} is needed")
    frame = examples.load(name)
    scene = Scene.of(frame.image, known[name], frame.licence)
    height, width = frame.depth_m.shape
    readings = Anchors.from_depth_map(frame.depth_m, image_size=(width, height))
    return scene.with_pool(readings, "true depth", "depth", frame.camera)
