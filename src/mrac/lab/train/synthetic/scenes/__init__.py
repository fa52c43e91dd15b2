"""Rooms, streets and table tops made up at random, with exact depth: nothing is stored, each batch is new."""

from mrac.lab.train.synthetic.scenes.render import Kind, render_batch

__all__ = ["Kind", "render_batch"]
