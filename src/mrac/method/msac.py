"""MSAC (Torr and Zisserman 2000): least squares on the supporters of the best line through two anchors."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="msac", head="affine")
