"""The demonstration: a real scene with measured depth, anchors a quarter of which are outliers, several methods."""

from mrac.examples import motorcycle

__all__ = ["motorcycle"]
