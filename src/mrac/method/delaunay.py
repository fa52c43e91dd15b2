"""Linear interpolation of the anchors' depth over the triangles between them; no network."""

from mrac.method._base import Method

IMPLEMENTATION = Method(foundation="none", gate="none", fit="ols", head="delaunay", space="depth")
