"""Foundations: relative depth from an image. One file per foundation; the file's name is the foundation's."""
