"""Outlier families: seeded corruption of anchor depths, for benchmarks, training and the demo. One file per family."""
