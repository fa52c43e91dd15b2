"""Fits: the relation from relative to metric depth. One file per fit; its name is the fit's."""
