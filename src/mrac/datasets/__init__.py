"""Datasets, converted once to the house conventions. One file per layout."""
