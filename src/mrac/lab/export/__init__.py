"""From a trained network to files that run without torch."""
