"""A calibrator as a folder: its configuration, the user's own weight files with checksums, a model card."""

from mrac.saved.folder import load_saved, save

__all__ = ["load_saved", "save"]
