"""The shipped scenes that the page offers: the one place that lists them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Final

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.errors import ContractError
from mrac.web.scenes import Scene

# Calibration of the photograph, as scikit-image states it.
_FOCAL_PX: Final = 994.978
_CENTRE_PX: Final = (311.193, 254.877)


@dataclass(frozen=True)
class Example:
    """One shipped scene.

    Attributes:
        name: in addresses.
        title: for people.
        credit: where it is from.
        load: makes the scene.
    """

    name: str
    title: str
    credit: str
    load: Callable[[], Scene]


def examples() -> tuple[Example, ...]:
    """What can be loaded here: the demo's photograph needs scikit-image, which carries it."""
    found = []
    if find_spec("skimage") is not None:
        found.append(
            Example(
                "motorcycle",
                "Motorcycle",
                "Middlebury Stereo 2014 (Scharstein et al.), as scikit-image ships it",
                _motorcycle,
            )
        )
    return tuple(found)


def load_example(name: str) -> Scene:
    """The scene of that name.

    Raises:
        ContractError: there is none.
    """
    for example in examples():
        if example.name == name:
            return replace(example.load(), title=example.title, credit=example.credit)
    known = ", ".join(example.name for example in examples()) or "none is installed here"
    raise ContractError(f"example: there is no {name!r}; known: {known}")


def _motorcycle() -> Scene:
    from mrac.demo import motorcycle  # noqa: PLC0415  (scipy, which the first view does without)

    made = motorcycle()
    scene = Scene.of(made.image, "Motorcycle")
    height, width = made.truth_m.shape
    readings = Anchors.from_depth_map(made.truth_m, image_size=(width, height))
    camera = Camera(_FOCAL_PX, _FOCAL_PX, *_CENTRE_PX, width, height)
    return scene.with_pool(readings, "measured depth", "depth", camera)
