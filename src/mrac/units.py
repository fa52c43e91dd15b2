"""Units of length, and the scales in which depth images are stored."""

from typing import Final

PER_METRE: Final = {"mm": 1000.0, "cm": 100.0, "m": 1.0, "km": 0.001, "ft": 1 / 0.3048, "feet": 1 / 0.3048}
"""How many of each make a metre."""

DEPTH_SCALES: Final = {"tum": 5000.0, "kitti": 256.0, "realsense": 1000.0, "scannet": 1000.0, "mm": 1000.0, "m": 1.0}
"""Stored units per metre of a depth image, by whose it is."""
