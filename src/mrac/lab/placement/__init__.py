"""Anchor placement: at which pixels a benchmark takes its readings. One file per strategy."""

from mrac.lab.placement._base import Placement

__all__ = ["Placement"]
