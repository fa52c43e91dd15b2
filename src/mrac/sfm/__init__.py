"""Models of structure from motion: COLMAP's and hloc's folders, their metric scale, and how sure a point's depth is."""

from mrac.sfm.folder import holds_model, read_model
from mrac.sfm.model import SfmImage, SfmModel, SfmPoints
from mrac.sfm.scale import scale_from

__all__ = ["SfmImage", "SfmModel", "SfmPoints", "holds_model", "read_model", "scale_from"]
