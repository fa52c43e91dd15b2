"""Shipped examples as scenes of the page."""

from mrac import examples
from mrac.anchors import Anchors
from mrac.errors import ContractError
from mrac.web.catalogue import example_names
from mrac.web.scenes import Scene


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
