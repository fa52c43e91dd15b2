"""Video: frames calibrated one after the other, with what the readings of past frames still tell."""

from mrac.video.calibrator import FrameState, VideoCalibrator

__all__ = ["FrameState", "VideoCalibrator"]
