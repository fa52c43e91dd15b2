"""The status of a scene as a number, for a graph, which has no words."""

from typing import Final

STATUSES: Final = (
    "ok",
    "no_anchors",
    "one_anchor",
    "two_anchors",
    "constant_relative_depth",
    "negative_slope",
    "too_few_anchors",
    "all_anchors_rejected",
    "affine_fallback",
    "mostly_unusable",
)
"""In the order of their numbers; what each means is in docs/reference.md."""


def code(status: str) -> int:
    """The number of a status."""
    return STATUSES.index(status)
