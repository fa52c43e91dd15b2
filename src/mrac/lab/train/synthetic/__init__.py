"""Synthetic training data: rendered scenes, and stereo readings from a synthesised second view."""
