"""The demonstration: a real scene with measured depth, anchors a quarter of which are outliers, several methods."""

from mrac.demo.scene import DemoScene, motorcycle

__all__ = ["DemoScene", "motorcycle"]
