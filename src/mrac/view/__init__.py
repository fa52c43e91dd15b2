"""Results in rerun's viewer, or as a file for it: image, readings by verdict, depth, deviation, points, camera."""

from mrac.view.frame import Readings, ViewFrame
from mrac.view.open import frames_of
from mrac.view.rerun_log import save_recording, show

__all__ = ["Readings", "ViewFrame", "frames_of", "save_recording", "show"]
