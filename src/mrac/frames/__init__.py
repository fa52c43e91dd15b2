"""Many frames as files: which images there are, which files belong to each, and which results are finished."""

from mrac.frames.images import IMAGE_SUFFIXES, list_images
from mrac.frames.manifest import Manifest, Record
from mrac.frames.matching import FrameFiles, FrameTable, match

__all__ = ["IMAGE_SUFFIXES", "FrameFiles", "FrameTable", "Manifest", "Record", "list_images", "match"]
