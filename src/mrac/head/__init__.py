"""Heads: from the fitted line to dense depth. One file per head; the file's name is the head's."""
