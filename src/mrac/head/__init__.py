"""Heads: dense metric depth from a relative field, its fit and the anchors. A public module is a head of its name."""
