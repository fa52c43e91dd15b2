"""Many frames as files: which images there are, which files belong to each, and which results are finished."""

from mrac.frames.images import list_images
from mrac.frames.manifest import Manifest, Record
from mrac.frames.matching import FrameFiles, FrameTable, match

__all__ = ["FrameFiles", "FrameTable", "Manifest", "Record", "list_images", "match"]
