"""The demonstration: a real scene with measured depth, anchors a quarter of which are outliers, several methods."""

from mrac.examples import Example as DemoScene
from mrac.examples import motorcycle

__all__ = ["DemoScene", "motorcycle"]
