"""The benchmark: who keeps the scale when some readings lie. Protocols and results are files that anyone can read."""
