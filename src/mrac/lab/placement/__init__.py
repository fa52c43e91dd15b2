"""Anchor placement: at which pixels a benchmark takes its readings. One file per strategy."""

from mrac.lab.placement.base import AnchorPlacement

__all__ = ["AnchorPlacement"]
