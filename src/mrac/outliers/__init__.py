"""Outlier families: seeded corruption of anchor depths, for benchmarks, training and the demo. One file per family."""

from mrac.outliers.base import Corrupted, Outliers, Truth

__all__ = ["Corrupted", "Outliers", "Truth"]
