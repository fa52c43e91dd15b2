"""Figures, one file per group of the paper's: each has `figures(context)`, which gives none where nothing was run."""
