"""Readings of a stereo camera that never was: a second view made from image and depth, disturbed, and matched."""
