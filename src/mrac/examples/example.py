"""One example frame: an image, sparse range readings, and the truth to compare results with."""

from dataclasses import dataclass

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.conventions import BoolArray, FloatArray, ImageArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Example:
    """One image with anchors, and the truth to compare results with.

    Attributes:
        name: what `mrac.examples.load` takes.
        title: what is seen, in a few words.
        image: (H, W, 3) uint8 RGB.
        anchors: K readings, some of them outliers.
        wrong: (K,) which readings are outliers.
        fault: what is wrong with these, in words.
        depth_m: (H, W) true depth in metres, NaN where there is none, as in the sky.
        camera: of the image.
        licence: under which the frame may be used, and whose it is.
    """

    name: str
    title: str
    image: ImageArray
    anchors: Anchors
    wrong: BoolArray
    fault: str
    depth_m: FloatArray
    camera: Camera
    licence: str

    @property
    def truth_m(self) -> FloatArray:
        """(H, W) `depth_m`, under a name that cannot be taken for the `depth_m` of a result."""
        return self.depth_m
