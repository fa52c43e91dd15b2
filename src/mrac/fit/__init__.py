"""Fits: the line from relative values to depth. One file per fit; the file's name is the fit's."""
